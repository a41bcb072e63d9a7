var s=t=>/^[\w.:/@%+=-]+$/.test(t)?t:`'${t.replaceAll("'",String.raw`'\''`)}'`,n=(t,r)=>s(`${t}/${r}`);export{s as a,n as b};
