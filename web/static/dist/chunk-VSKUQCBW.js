var e=()=>typeof document>"u"?void 0:document.documentElement,t=()=>e()?.dataset.kiosk!==void 0;function d(n){return`${e()?.dataset.base??""}${n}`}export{t as a,d as b};
