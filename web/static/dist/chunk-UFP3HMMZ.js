import{a as o}from"./chunk-N3MOGUTL.js";var t="letters-off",s=()=>o.get(t)===null,l=e=>o.setFlag(t,!e),r=e=>e.length===1;export{s as a,l as b,r as c};
