function t(e){return`${(typeof document>"u"?void 0:document.documentElement)?.dataset.base??""}${e}`}export{t as a};
