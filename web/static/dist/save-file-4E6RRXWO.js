import{a}from"./chunk-OZVTGI7I.js";import"./chunk-C6GKX3UN.js";export{a as saveFile};
