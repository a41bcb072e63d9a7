import{o as r}from"./chunk-2X7YSMUQ.js";function o(n,t){let i=t.find(d=>d.ref===n);return i===void 0?n.split("/")[2]??n:r(i)}export{o as a};
