var e=r=>String(r).replace(/\B(?=(\d{3})+$)/g,",");export{e as a};
