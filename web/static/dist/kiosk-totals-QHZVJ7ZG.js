<<<<<<<< HEAD:web/static/dist/kiosk-totals-WT35ZADZ.js
import{a}from"./chunk-JZ2XA6QZ.js";import{h as i,i as m,j as n}from"./chunk-AO5TJ4IR.js";import"./chunk-QERT7NO2.js";import"./chunk-77CMGNFG.js";import{h as r}from"./chunk-B3ZC2TXU.js";import{e,h as s}from"./chunk-ATB4R42E.js";function g(p,c){let t=e("div"),f=new m(c),o=()=>n(t,i(a,{count:l=>p.countSeverity(l),cluster:r()}),f);s("progress").before(t),o(),setInterval(o,1e3)}export{g as showTotals};
========
import{a}from"./chunk-XGOBHWXW.js";import{h as i,i as m,j as n}from"./chunk-TSQGCYNB.js";import"./chunk-R35VRKW6.js";import"./chunk-V76GC3SR.js";import{h as r}from"./chunk-Z2VY4OIG.js";import{e,h as s}from"./chunk-ATB4R42E.js";function g(p,c){let t=e("div"),f=new m(c),o=()=>n(t,i(a,{count:l=>p.countSeverity(l),cluster:r()}),f);s("progress").before(t),o(),setInterval(o,1e3)}export{g as showTotals};
>>>>>>>> 6884d184 (list: put the open activity feed with scope and filter into the URL):web/static/dist/kiosk-totals-QHZVJ7ZG.js
