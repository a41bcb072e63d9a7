import{p as r}from"./chunk-DAVYRBH6.js";function o(n,t){let i=t.find(d=>d.ref===n);return i===void 0?n.split("/")[2]??n:r(i)}export{o as a};
