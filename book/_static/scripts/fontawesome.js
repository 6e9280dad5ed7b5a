(()=>{function d3(c,l,a){return(l=N3(l))in c?Object.defineProperty(c,l,{value:a,enumerable:!0,configurable:!0,writable:!0}):c[l]=a,c}function I1(c,l){var a=Object.keys(c);if(Object.getOwnPropertySymbols){var s=Object.getOwnPropertySymbols(c);l&&(s=s.filter(function(e){return Object.getOwnPropertyDescriptor(c,e).enumerable})),a.push.apply(a,s)}return a}function i(c){for(var l=1;l<arguments.length;l++){var a=arguments[l]!=null?arguments[l]:{};l%2?I1(Object(a),!0).forEach(function(s){d3(c,s,a[s])}):Object.getOwnPropertyDescriptors?Object.defineProperties(c,Object.getOwnPropertyDescriptors(a)):I1(Object(a)).forEach(function(s){Object.defineProperty(c,s,Object.getOwnPropertyDescriptor(a,s))})}return c}function x3(c,l){if(typeof c!="object"||!c)return c;var a=c[Symbol.toPrimitive];if(a!==void 0){var s=a.call(c,l||"default");if(typeof s!="object")return s;throw new TypeError("@@toPrimitive must return a primitive value.")}return(l==="string"?String:Number)(c)}function N3(c){var l=x3(c,"string");return typeof l=="symbol"?l:l+""}var U1=()=>{},y1={},C2={},p2=null,h2={mark:U1,measure:U1};try{typeof window<"u"&&(y1=window),typeof document<"u"&&(C2=document),typeof MutationObserver<"u"&&(p2=MutationObserver),typeof performance<"u"&&(h2=performance)}catch{}var{userAgent:G1=""}=y1.navigator||{},V=y1,C=C2,W1=p2,K=h2,x0=!!V.document,k=!!C.documentElement&&!!C.head&&typeof C.addEventListener=="function"&&typeof C.createElement=="function",u2=~G1.indexOf("MSIE")||~G1.indexOf("Trident/"),b3=/fa(s|r|l|t|d|dr|dl|dt|b|k|kd|ss|sr|sl|st|sds|sdr|sdl|sdt)?[\-\ ]/,g3=/Font ?Awesome ?([56 ]*)(Solid|Regular|Light|Thin|Duotone|Brands|Free|Pro|Sharp Duotone|Sharp|Kit)?.*/i,d2={classic:{fa:"solid",fas:"solid","fa-solid":"solid",far:"regular","fa-regular":"regular",fal:"light","fa-light":"light",fat:"thin","fa-thin":"thin",fab:"brands","fa-brands":"brands"},duotone:{fa:"solid",fad:"solid","fa-solid":"solid","fa-duotone":"solid",fadr:"regular","fa-regular":"regular",fadl:"light","fa-light":"light",fadt:"thin","fa-thin":"thin"},sharp:{fa:"solid",fass:"solid","fa-solid":"solid",fasr:"regular","fa-regular":"regular",fasl:"light","fa-light":"light",fast:"thin","fa-thin":"thin"},"sharp-duotone":{fa:"solid",fasds:"solid","fa-solid":"solid",fasdr:"regular","fa-regular":"regular",fasdl:"light","fa-light":"light",fasdt:"thin","fa-thin":"thin"}},v3={GROUP:"duotone-group",SWAP_OPACITY:"swap-opacity",PRIMARY:"primary",SECONDARY:"secondary"},x2=["fa-classic","fa-duotone","fa-sharp","fa-sharp-duotone"],p="classic",a1="duotone",S3="sharp",H3="sharp-duotone",N2=[p,a1,S3,H3],k3={classic:{900:"fas",400:"far",normal:"far",300:"fal",100:"fat"},duotone:{900:"fad",400:"fadr",300:"fadl",100:"fadt"},sharp:{900:"fass",400:"fasr",300:"fasl",100:"fast"},"sharp-duotone":{900:"fasds",400:"fasdr",300:"fasdl",100:"fasdt"}},A3={"Font Awesome 6 Free":{900:"fas",400:"far"},"Font Awesome 6 Pro":{900:"fas",400:"far",normal:"far",300:"fal",100:"fat"},"Font Awesome 6 Brands":{400:"fab",normal:"fab"},"Font Awesome 6 Duotone":{900:"fad",400:"fadr",normal:"fadr",300:"fadl",100:"fadt"},"Font Awesome 6 Sharp":{900:"fass",400:"fasr",normal:"fasr",300:"fasl",100:"fast"},"Font Awesome 6 Sharp Duotone":{900:"fasds",400:"fasdr",normal:"fasdr",300:"fasdl",100:"fasdt"}},w3=new Map([["classic",{defaultShortPrefixId:"fas",defaultStyleId:"solid",styleIds:["solid","regular","light","thin","brands"],futureStyleIds:[],defaultFontWeight:900}],["sharp",{defaultShortPrefixId:"fass",defaultStyleId:"solid",styleIds:["solid","regular","light","thin"],futureStyleIds:[],defaultFontWeight:900}],["duotone",{defaultShortPrefixId:"fad",defaultStyleId:"solid",styleIds:["solid","regular","light","thin"],futureStyleIds:[],defaultFontWeight:900}],["sharp-duotone",{defaultShortPrefixId:"fasds",defaultStyleId:"solid",styleIds:["solid","regular","light","thin"],futureStyleIds:[],defaultFontWeight:900}]]),V3={classic:{solid:"fas",regular:"far",light:"fal",thin:"fat",brands:"fab"},duotone:{solid:"fad",regular:"fadr",light:"fadl",thin:"fadt"},sharp:{solid:"fass",regular:"fasr",light:"fasl",thin:"fast"},"sharp-duotone":{solid:"fasds",regular:"fasdr",light:"fasdl",thin:"fasdt"}},y3=["fak","fa-kit","fakd","fa-kit-duotone"],_1={kit:{fak:"kit","fa-kit":"kit"},"kit-duotone":{fakd:"kit-duotone","fa-kit-duotone":"kit-duotone"}},P3=["kit"],T3={kit:{"fa-kit":"fak"},"kit-duotone":{"fa-kit-duotone":"fakd"}},F3=["fak","fakd"],q3={kit:{fak:"fa-kit"},"kit-duotone":{fakd:"fa-kit-duotone"}},j1={kit:{kit:"fak"},"kit-duotone":{"kit-duotone":"fakd"}},Q={GROUP:"duotone-group",SWAP_OPACITY:"swap-opacity",PRIMARY:"primary",SECONDARY:"secondary"},D3=["fa-classic","fa-duotone","fa-sharp","fa-sharp-duotone"],B3=["fak","fa-kit","fakd","fa-kit-duotone"],R3={"Font Awesome Kit":{400:"fak",normal:"fak"},"Font Awesome Kit Duotone":{400:"fakd",normal:"fakd"}},E3={classic:{"fa-brands":"fab","fa-duotone":"fad","fa-light":"fal","fa-regular":"far","fa-solid":"fas","fa-thin":"fat"},duotone:{"fa-regular":"fadr","fa-light":"fadl","fa-thin":"fadt"},sharp:{"fa-solid":"fass","fa-regular":"fasr","fa-light":"fasl","fa-thin":"fast"},"sharp-duotone":{"fa-solid":"fasds","fa-regular":"fasdr","fa-light":"fasdl","fa-thin":"fasdt"}},O3={classic:["fas","far","fal","fat","fad"],duotone:["fadr","fadl","fadt"],sharp:["fass","fasr","fasl","fast"],"sharp-duotone":["fasds","fasdr","fasdl","fasdt"]},M1={classic:{fab:"fa-brands",fad:"fa-duotone",fal:"fa-light",far:"fa-regular",fas:"fa-solid",fat:"fa-thin"},duotone:{fadr:"fa-regular",fadl:"fa-light",fadt:"fa-thin"},sharp:{fass:"fa-solid",fasr:"fa-regular",fasl:"fa-light",fast:"fa-thin"},"sharp-duotone":{fasds:"fa-solid",fasdr:"fa-regular",fasdl:"fa-light",fasdt:"fa-thin"}},Z3=["fa-solid","fa-regular","fa-light","fa-thin","fa-duotone","fa-brands"],C1=["fa","fas","far","fal","fat","fad","fadr","fadl","fadt","fab","fass","fasr","fasl","fast","fasds","fasdr","fasdl","fasdt",...D3,...Z3],I3=["solid","regular","light","thin","duotone","brands"],b2=[1,2,3,4,5,6,7,8,9,10],U3=b2.concat([11,12,13,14,15,16,17,18,19,20]),G3=[...Object.keys(O3),...I3,"2xs","xs","sm","lg","xl","2xl","beat","border","fade","beat-fade","bounce","flip-both","flip-horizontal","flip-vertical","flip","fw","inverse","layers-counter","layers-text","layers","li","pull-left","pull-right","pulse","rotate-180","rotate-270","rotate-90","rotate-by","shake","spin-pulse","spin-reverse","spin","stack-1x","stack-2x","stack","ul",Q.GROUP,Q.SWAP_OPACITY,Q.PRIMARY,Q.SECONDARY].concat(b2.map(c=>"".concat(c,"x"))).concat(U3.map(c=>"w-".concat(c))),W3={"Font Awesome 5 Free":{900:"fas",400:"far"},"Font Awesome 5 Pro":{900:"fas",400:"far",normal:"far",300:"fal"},"Font Awesome 5 Brands":{400:"fab",normal:"fab"},"Font Awesome 5 Duotone":{900:"fad"}},S="___FONT_AWESOME___",p1=16,g2="fa",v2="svg-inline--fa",q="data-fa-i2svg",h1="data-fa-pseudo-element",_3="data-fa-pseudo-element-pending",P1="data-prefix",T1="data-icon",Y1="fontawesome-i2svg",j3="async",Y3=["HTML","HEAD","STYLE","SCRIPT"],S2=(()=>{try{return!0}catch{return!1}})();function Y(c){return new Proxy(c,{get(l,a){return a in l?l[a]:l[p]}})}var H2=i({},d2);H2[p]=i(i(i(i({},{"fa-duotone":"duotone"}),d2[p]),_1.kit),_1["kit-duotone"]);var X3=Y(H2),u1=i({},V3);u1[p]=i(i(i(i({},{duotone:"fad"}),u1[p]),j1.kit),j1["kit-duotone"]);var X1=Y(u1),d1=i({},M1);d1[p]=i(i({},d1[p]),q3.kit);var F1=Y(d1),x1=i({},E3);x1[p]=i(i({},x1[p]),T3.kit);var N0=Y(x1),K3=b3,k2="fa-layers-text",Q3=g3,J3=i({},k3),b0=Y(J3),$3=["class","data-prefix","data-icon","data-fa-transform","data-fa-mask"],t1=v3,c4=[...P3,...G3],G=V.FontAwesomeConfig||{};function l4(c){var l=C.querySelector("script["+c+"]");if(l)return l.getAttribute(c)}function a4(c){return c===""?!0:c==="false"?!1:c==="true"?!0:c}C&&typeof C.querySelector=="function"&&[["data-family-prefix","familyPrefix"],["data-css-prefix","cssPrefix"],["data-family-default","familyDefault"],["data-style-default","styleDefault"],["data-replacement-class","replacementClass"],["data-auto-replace-svg","autoReplaceSvg"],["data-auto-add-css","autoAddCss"],["data-auto-a11y","autoA11y"],["data-search-pseudo-elements","searchPseudoElements"],["data-observe-mutations","observeMutations"],["data-mutate-approach","mutateApproach"],["data-keep-original-source","keepOriginalSource"],["data-measure-performance","measurePerformance"],["data-show-missing-icons","showMissingIcons"]].forEach(l=>{let[a,s]=l,e=a4(l4(a));e!=null&&(G[s]=e)});var A2={styleDefault:"solid",familyDefault:p,cssPrefix:g2,replacementClass:v2,autoReplaceSvg:!0,autoAddCss:!0,autoA11y:!0,searchPseudoElements:!1,observeMutations:!0,mutateApproach:"async",keepOriginalSource:!0,measurePerformance:!1,showMissingIcons:!0};G.familyPrefix&&(G.cssPrefix=G.familyPrefix);var Z=i(i({},A2),G);Z.autoReplaceSvg||(Z.observeMutations=!1);var t={};Object.keys(A2).forEach(c=>{Object.defineProperty(t,c,{enumerable:!0,set:function(l){Z[c]=l,W.forEach(a=>a(t))},get:function(){return Z[c]}})});Object.defineProperty(t,"familyPrefix",{enumerable:!0,set:function(c){Z.cssPrefix=c,W.forEach(l=>l(t))},get:function(){return Z.cssPrefix}});V.FontAwesomeConfig=t;var W=[];function s4(c){return W.push(c),()=>{W.splice(W.indexOf(c),1)}}var w=p1,b={size:16,x:0,y:0,rotate:0,flipX:!1,flipY:!1};function e4(c){if(!c||!k)return;let l=C.createElement("style");l.setAttribute("type","text/css"),l.innerHTML=c;let a=C.head.childNodes,s=null;for(let e=a.length-1;e>-1;e--){let n=a[e],o=(n.tagName||"").toUpperCase();["STYLE","LINK"].indexOf(o)>-1&&(s=n)}return C.head.insertBefore(l,s),c}var n4="0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";function _(){let c=12,l="";for(;c-- >0;)l+=n4[Math.random()*62|0];return l}function I(c){let l=[];for(let a=(c||[]).length>>>0;a--;)l[a]=c[a];return l}function q1(c){return c.classList?I(c.classList):(c.getAttribute("class")||"").split(" ").filter(l=>l)}function w2(c){return"".concat(c).replace(/&/g,"&amp;").replace(/"/g,"&quot;").replace(/'/g,"&#39;").replace(/</g,"&lt;").replace(/>/g,"&gt;")}function o4(c){return Object.keys(c||{}).reduce((l,a)=>l+"".concat(a,'="').concat(w2(c[a]),'" '),"").trim()}function s1(c){return Object.keys(c||{}).reduce((l,a)=>l+"".concat(a,": ").concat(c[a].trim(),";"),"")}function D1(c){return c.size!==b.size||c.x!==b.x||c.y!==b.y||c.rotate!==b.rotate||c.flipX||c.flipY}function i4(c){let{transform:l,containerWidth:a,iconWidth:s}=c,e={transform:"translate(".concat(a/2," 256)")},n="translate(".concat(l.x*32,", ").concat(l.y*32,") "),o="scale(".concat(l.size/16*(l.flipX?-1:1),", ").concat(l.size/16*(l.flipY?-1:1),") "),f="rotate(".concat(l.rotate," 0 0)"),z={transform:"".concat(n," ").concat(o," ").concat(f)},r={transform:"translate(".concat(s/2*-1," -256)")};return{outer:e,inner:z,path:r}}function f4(c){let{transform:l,width:a=p1,height:s=p1,startCentered:e=!1}=c,n="";return e&&u2?n+="translate(".concat(l.x/w-a/2,"em, ").concat(l.y/w-s/2,"em) "):e?n+="translate(calc(-50% + ".concat(l.x/w,"em), calc(-50% + ").concat(l.y/w,"em)) "):n+="translate(".concat(l.x/w,"em, ").concat(l.y/w,"em) "),n+="scale(".concat(l.size/w*(l.flipX?-1:1),", ").concat(l.size/w*(l.flipY?-1:1),") "),n+="rotate(".concat(l.rotate,"deg) "),n}var t4=`:root, :host {
  --fa-font-solid: normal 900 1em/1 "Font Awesome 6 Free";
  --fa-font-regular: normal 400 1em/1 "Font Awesome 6 Free";
  --fa-font-light: normal 300 1em/1 "Font Awesome 6 Pro";
  --fa-font-thin: normal 100 1em/1 "Font Awesome 6 Pro";
  --fa-font-duotone: normal 900 1em/1 "Font Awesome 6 Duotone";
  --fa-font-duotone-regular: normal 400 1em/1 "Font Awesome 6 Duotone";
  --fa-font-duotone-light: normal 300 1em/1 "Font Awesome 6 Duotone";
  --fa-font-duotone-thin: normal 100 1em/1 "Font Awesome 6 Duotone";
  --fa-font-brands: normal 400 1em/1 "Font Awesome 6 Brands";
  --fa-font-sharp-solid: normal 900 1em/1 "Font Awesome 6 Sharp";
  --fa-font-sharp-regular: normal 400 1em/1 "Font Awesome 6 Sharp";
  --fa-font-sharp-light: normal 300 1em/1 "Font Awesome 6 Sharp";
  --fa-font-sharp-thin: normal 100 1em/1 "Font Awesome 6 Sharp";
  --fa-font-sharp-duotone-solid: normal 900 1em/1 "Font Awesome 6 Sharp Duotone";
  --fa-font-sharp-duotone-regular: normal 400 1em/1 "Font Awesome 6 Sharp Duotone";
  --fa-font-sharp-duotone-light: normal 300 1em/1 "Font Awesome 6 Sharp Duotone";
  --fa-font-sharp-duotone-thin: normal 100 1em/1 "Font Awesome 6 Sharp Duotone";
}

svg:not(:root).svg-inline--fa, svg:not(:host).svg-inline--fa {
  overflow: visible;
  box-sizing: content-box;
}

.svg-inline--fa {
  display: var(--fa-display, inline-block);
  height: 1em;
  overflow: visible;
  vertical-align: -0.125em;
}
.svg-inline--fa.fa-2xs {
  vertical-align: 0.1em;
}
.svg-inline--fa.fa-xs {
  vertical-align: 0em;
}
.svg-inline--fa.fa-sm {
  vertical-align: -0.0714285705em;
}
.svg-inline--fa.fa-lg {
  vertical-align: -0.2em;
}
.svg-inline--fa.fa-xl {
  vertical-align: -0.25em;
}
.svg-inline--fa.fa-2xl {
  vertical-align: -0.3125em;
}
.svg-inline--fa.fa-pull-left {
  margin-right: var(--fa-pull-margin, 0.3em);
  width: auto;
}
.svg-inline--fa.fa-pull-right {
  margin-left: var(--fa-pull-margin, 0.3em);
  width: auto;
}
.svg-inline--fa.fa-li {
  width: var(--fa-li-width, 2em);
  top: 0.25em;
}
.svg-inline--fa.fa-fw {
  width: var(--fa-fw-width, 1.25em);
}

.fa-layers svg.svg-inline--fa {
  bottom: 0;
  left: 0;
  margin: auto;
  position: absolute;
  right: 0;
  top: 0;
}

.fa-layers-counter, .fa-layers-text {
  display: inline-block;
  position: absolute;
  text-align: center;
}

.fa-layers {
  display: inline-block;
  height: 1em;
  position: relative;
  text-align: center;
  vertical-align: -0.125em;
  width: 1em;
}
.fa-layers svg.svg-inline--fa {
  transform-origin: center center;
}

.fa-layers-text {
  left: 50%;
  top: 50%;
  transform: translate(-50%, -50%);
  transform-origin: center center;
}

.fa-layers-counter {
  background-color: var(--fa-counter-background-color, #ff253a);
  border-radius: var(--fa-counter-border-radius, 1em);
  box-sizing: border-box;
  color: var(--fa-inverse, #fff);
  line-height: var(--fa-counter-line-height, 1);
  max-width: var(--fa-counter-max-width, 5em);
  min-width: var(--fa-counter-min-width, 1.5em);
  overflow: hidden;
  padding: var(--fa-counter-padding, 0.25em 0.5em);
  right: var(--fa-right, 0);
  text-overflow: ellipsis;
  top: var(--fa-top, 0);
  transform: scale(var(--fa-counter-scale, 0.25));
  transform-origin: top right;
}

.fa-layers-bottom-right {
  bottom: var(--fa-bottom, 0);
  right: var(--fa-right, 0);
  top: auto;
  transform: scale(var(--fa-layers-scale, 0.25));
  transform-origin: bottom right;
}

.fa-layers-bottom-left {
  bottom: var(--fa-bottom, 0);
  left: var(--fa-left, 0);
  right: auto;
  top: auto;
  transform: scale(var(--fa-layers-scale, 0.25));
  transform-origin: bottom left;
}

.fa-layers-top-right {
  top: var(--fa-top, 0);
  right: var(--fa-right, 0);
  transform: scale(var(--fa-layers-scale, 0.25));
  transform-origin: top right;
}

.fa-layers-top-left {
  left: var(--fa-left, 0);
  right: auto;
  top: var(--fa-top, 0);
  transform: scale(var(--fa-layers-scale, 0.25));
  transform-origin: top left;
}

.fa-1x {
  font-size: 1em;
}

.fa-2x {
  font-size: 2em;
}

.fa-3x {
  font-size: 3em;
}

.fa-4x {
  font-size: 4em;
}

.fa-5x {
  font-size: 5em;
}

.fa-6x {
  font-size: 6em;
}

.fa-7x {
  font-size: 7em;
}

.fa-8x {
  font-size: 8em;
}

.fa-9x {
  font-size: 9em;
}

.fa-10x {
  font-size: 10em;
}

.fa-2xs {
  font-size: 0.625em;
  line-height: 0.1em;
  vertical-align: 0.225em;
}

.fa-xs {
  font-size: 0.75em;
  line-height: 0.0833333337em;
  vertical-align: 0.125em;
}

.fa-sm {
  font-size: 0.875em;
  line-height: 0.0714285718em;
  vertical-align: 0.0535714295em;
}

.fa-lg {
  font-size: 1.25em;
  line-height: 0.05em;
  vertical-align: -0.075em;
}

.fa-xl {
  font-size: 1.5em;
  line-height: 0.0416666682em;
  vertical-align: -0.125em;
}

.fa-2xl {
  font-size: 2em;
  line-height: 0.03125em;
  vertical-align: -0.1875em;
}

.fa-fw {
  text-align: center;
  width: 1.25em;
}

.fa-ul {
  list-style-type: none;
  margin-left: var(--fa-li-margin, 2.5em);
  padding-left: 0;
}
.fa-ul > li {
  position: relative;
}

.fa-li {
  left: calc(-1 * var(--fa-li-width, 2em));
  position: absolute;
  text-align: center;
  width: var(--fa-li-width, 2em);
  line-height: inherit;
}

.fa-border {
  border-color: var(--fa-border-color, #eee);
  border-radius: var(--fa-border-radius, 0.1em);
  border-style: var(--fa-border-style, solid);
  border-width: var(--fa-border-width, 0.08em);
  padding: var(--fa-border-padding, 0.2em 0.25em 0.15em);
}

.fa-pull-left {
  float: left;
  margin-right: var(--fa-pull-margin, 0.3em);
}

.fa-pull-right {
  float: right;
  margin-left: var(--fa-pull-margin, 0.3em);
}

.fa-beat {
  animation-name: fa-beat;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, ease-in-out);
}

.fa-bounce {
  animation-name: fa-bounce;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, cubic-bezier(0.28, 0.84, 0.42, 1));
}

.fa-fade {
  animation-name: fa-fade;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, cubic-bezier(0.4, 0, 0.6, 1));
}

.fa-beat-fade {
  animation-name: fa-beat-fade;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, cubic-bezier(0.4, 0, 0.6, 1));
}

.fa-flip {
  animation-name: fa-flip;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, ease-in-out);
}

.fa-shake {
  animation-name: fa-shake;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, linear);
}

.fa-spin {
  animation-name: fa-spin;
  animation-delay: var(--fa-animation-delay, 0s);
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 2s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, linear);
}

.fa-spin-reverse {
  --fa-animation-direction: reverse;
}

.fa-pulse,
.fa-spin-pulse {
  animation-name: fa-spin;
  animation-direction: var(--fa-animation-direction, normal);
  animation-duration: var(--fa-animation-duration, 1s);
  animation-iteration-count: var(--fa-animation-iteration-count, infinite);
  animation-timing-function: var(--fa-animation-timing, steps(8));
}

@media (prefers-reduced-motion: reduce) {
  .fa-beat,
.fa-bounce,
.fa-fade,
.fa-beat-fade,
.fa-flip,
.fa-pulse,
.fa-shake,
.fa-spin,
.fa-spin-pulse {
    animation-delay: -1ms;
    animation-duration: 1ms;
    animation-iteration-count: 1;
    transition-delay: 0s;
    transition-duration: 0s;
  }
}
@keyframes fa-beat {
  0%, 90% {
    transform: scale(1);
  }
  45% {
    transform: scale(var(--fa-beat-scale, 1.25));
  }
}
@keyframes fa-bounce {
  0% {
    transform: scale(1, 1) translateY(0);
  }
  10% {
    transform: scale(var(--fa-bounce-start-scale-x, 1.1), var(--fa-bounce-start-scale-y, 0.9)) translateY(0);
  }
  30% {
    transform: scale(var(--fa-bounce-jump-scale-x, 0.9), var(--fa-bounce-jump-scale-y, 1.1)) translateY(var(--fa-bounce-height, -0.5em));
  }
  50% {
    transform: scale(var(--fa-bounce-land-scale-x, 1.05), var(--fa-bounce-land-scale-y, 0.95)) translateY(0);
  }
  57% {
    transform: scale(1, 1) translateY(var(--fa-bounce-rebound, -0.125em));
  }
  64% {
    transform: scale(1, 1) translateY(0);
  }
  100% {
    transform: scale(1, 1) translateY(0);
  }
}
@keyframes fa-fade {
  50% {
    opacity: var(--fa-fade-opacity, 0.4);
  }
}
@keyframes fa-beat-fade {
  0%, 100% {
    opacity: var(--fa-beat-fade-opacity, 0.4);
    transform: scale(1);
  }
  50% {
    opacity: 1;
    transform: scale(var(--fa-beat-fade-scale, 1.125));
  }
}
@keyframes fa-flip {
  50% {
    transform: rotate3d(var(--fa-flip-x, 0), var(--fa-flip-y, 1), var(--fa-flip-z, 0), var(--fa-flip-angle, -180deg));
  }
}
@keyframes fa-shake {
  0% {
    transform: rotate(-15deg);
  }
  4% {
    transform: rotate(15deg);
  }
  8%, 24% {
    transform: rotate(-18deg);
  }
  12%, 28% {
    transform: rotate(18deg);
  }
  16% {
    transform: rotate(-22deg);
  }
  20% {
    transform: rotate(22deg);
  }
  32% {
    transform: rotate(-12deg);
  }
  36% {
    transform: rotate(12deg);
  }
  40%, 100% {
    transform: rotate(0deg);
  }
}
@keyframes fa-spin {
  0% {
    transform: rotate(0deg);
  }
  100% {
    transform: rotate(360deg);
  }
}
.fa-rotate-90 {
  transform: rotate(90deg);
}

.fa-rotate-180 {
  transform: rotate(180deg);
}

.fa-rotate-270 {
  transform: rotate(270deg);
}

.fa-flip-horizontal {
  transform: scale(-1, 1);
}

.fa-flip-vertical {
  transform: scale(1, -1);
}

.fa-flip-both,
.fa-flip-horizontal.fa-flip-vertical {
  transform: scale(-1, -1);
}

.fa-rotate-by {
  transform: rotate(var(--fa-rotate-angle, 0));
}

.fa-stack {
  display: inline-block;
  vertical-align: middle;
  height: 2em;
  position: relative;
  width: 2.5em;
}

.fa-stack-1x,
.fa-stack-2x {
  bottom: 0;
  left: 0;
  margin: auto;
  position: absolute;
  right: 0;
  top: 0;
  z-index: var(--fa-stack-z-index, auto);
}

.svg-inline--fa.fa-stack-1x {
  height: 1em;
  width: 1.25em;
}
.svg-inline--fa.fa-stack-2x {
  height: 2em;
  width: 2.5em;
}

.fa-inverse {
  color: var(--fa-inverse, #fff);
}

.sr-only,
.fa-sr-only {
  position: absolute;
  width: 1px;
  height: 1px;
  padding: 0;
  margin: -1px;
  overflow: hidden;
  clip: rect(0, 0, 0, 0);
  white-space: nowrap;
  border-width: 0;
}

.sr-only-focusable:not(:focus),
.fa-sr-only-focusable:not(:focus) {
  position: absolute;
  width: 1px;
  height: 1px;
  padding: 0;
  margin: -1px;
  overflow: hidden;
  clip: rect(0, 0, 0, 0);
  white-space: nowrap;
  border-width: 0;
}

.svg-inline--fa .fa-primary {
  fill: var(--fa-primary-color, currentColor);
  opacity: var(--fa-primary-opacity, 1);
}

.svg-inline--fa .fa-secondary {
  fill: var(--fa-secondary-color, currentColor);
  opacity: var(--fa-secondary-opacity, 0.4);
}

.svg-inline--fa.fa-swap-opacity .fa-primary {
  opacity: var(--fa-secondary-opacity, 0.4);
}

.svg-inline--fa.fa-swap-opacity .fa-secondary {
  opacity: var(--fa-primary-opacity, 1);
}

.svg-inline--fa mask .fa-primary,
.svg-inline--fa mask .fa-secondary {
  fill: black;
}`;function V2(){let c=g2,l=v2,a=t.cssPrefix,s=t.replacementClass,e=t4;if(a!==c||s!==l){let n=new RegExp("\\.".concat(c,"\\-"),"g"),o=new RegExp("\\--".concat(c,"\\-"),"g"),f=new RegExp("\\.".concat(l),"g");e=e.replace(n,".".concat(a,"-")).replace(o,"--".concat(a,"-")).replace(f,".".concat(s))}return e}var K1=!1;function r1(){t.autoAddCss&&!K1&&(e4(V2()),K1=!0)}var r4={mixout(){return{dom:{css:V2,insertCss:r1}}},hooks(){return{beforeDOMElementCreation(){r1()},beforeI2svg(){r1()}}}},H=V||{};H[S]||(H[S]={});H[S].styles||(H[S].styles={});H[S].hooks||(H[S].hooks={});H[S].shims||(H[S].shims=[]);var g=H[S],y2=[],P2=function(){C.removeEventListener("DOMContentLoaded",P2),c1=1,y2.map(c=>c())},c1=!1;k&&(c1=(C.documentElement.doScroll?/^loaded|^c/:/^loaded|^i|^c/).test(C.readyState),c1||C.addEventListener("DOMContentLoaded",P2));function z4(c){k&&(c1?setTimeout(c,0):y2.push(c))}function X(c){let{tag:l,attributes:a={},children:s=[]}=c;return typeof c=="string"?w2(c):"<".concat(l," ").concat(o4(a),">").concat(s.map(X).join(""),"</").concat(l,">")}function Q1(c,l,a){if(c&&c[l]&&c[l][a])return{prefix:l,iconName:a,icon:c[l][a]}}var m4=function(l,a){return function(s,e,n,o){return l.call(a,s,e,n,o)}},z1=function(l,a,s,e){var n=Object.keys(l),o=n.length,f=e!==void 0?m4(a,e):a,z,r,m;for(s===void 0?(z=1,m=l[n[0]]):(z=0,m=s);z<o;z++)r=n[z],m=f(m,l[r],r,l);return m};function L4(c){let l=[],a=0,s=c.length;for(;a<s;){let e=c.charCodeAt(a++);if(e>=55296&&e<=56319&&a<s){let n=c.charCodeAt(a++);(n&64512)==56320?l.push(((e&1023)<<10)+(n&1023)+65536):(l.push(e),a--)}else l.push(e)}return l}function N1(c){let l=L4(c);return l.length===1?l[0].toString(16):null}function M4(c,l){let a=c.length,s=c.charCodeAt(l),e;return s>=55296&&s<=56319&&a>l+1&&(e=c.charCodeAt(l+1),e>=56320&&e<=57343)?(s-55296)*1024+e-56320+65536:s}function J1(c){return Object.keys(c).reduce((l,a)=>{let s=c[a];return!!s.icon?l[s.iconName]=s.icon:l[a]=s,l},{})}function b1(c,l){let a=arguments.length>2&&arguments[2]!==void 0?arguments[2]:{},{skipHooks:s=!1}=a,e=J1(l);typeof g.hooks.addPack=="function"&&!s?g.hooks.addPack(c,J1(l)):g.styles[c]=i(i({},g.styles[c]||{}),e),c==="fas"&&b1("fa",l)}var{styles:j,shims:C4}=g,T2=Object.keys(F1),p4=T2.reduce((c,l)=>(c[l]=Object.keys(F1[l]),c),{}),B1=null,F2={},q2={},D2={},B2={},R2={};function h4(c){return~c4.indexOf(c)}function u4(c,l){let a=l.split("-"),s=a[0],e=a.slice(1).join("-");return s===c&&e!==""&&!h4(e)?e:null}var E2=()=>{let c=s=>z1(j,(e,n,o)=>(e[o]=z1(n,s,{}),e),{});F2=c((s,e,n)=>(e[3]&&(s[e[3]]=n),e[2]&&e[2].filter(f=>typeof f=="number").forEach(f=>{s[f.toString(16)]=n}),s)),q2=c((s,e,n)=>(s[n]=n,e[2]&&e[2].filter(f=>typeof f=="string").forEach(f=>{s[f]=n}),s)),R2=c((s,e,n)=>{let o=e[2];return s[n]=n,o.forEach(f=>{s[f]=n}),s});let l="far"in j||t.autoFetchSvg,a=z1(C4,(s,e)=>{let n=e[0],o=e[1],f=e[2];return o==="far"&&!l&&(o="fas"),typeof n=="string"&&(s.names[n]={prefix:o,iconName:f}),typeof n=="number"&&(s.unicodes[n.toString(16)]={prefix:o,iconName:f}),s},{names:{},unicodes:{}});D2=a.names,B2=a.unicodes,B1=e1(t.styleDefault,{family:t.familyDefault})};s4(c=>{B1=e1(c.styleDefault,{family:t.familyDefault})});E2();function R1(c,l){return(F2[c]||{})[l]}function d4(c,l){return(q2[c]||{})[l]}function F(c,l){return(R2[c]||{})[l]}function O2(c){return D2[c]||{prefix:null,iconName:null}}function x4(c){let l=B2[c],a=R1("fas",c);return l||(a?{prefix:"fas",iconName:a}:null)||{prefix:null,iconName:null}}function y(){return B1}var Z2=()=>({prefix:null,iconName:null,rest:[]});function N4(c){let l=p,a=T2.reduce((s,e)=>(s[e]="".concat(t.cssPrefix,"-").concat(e),s),{});return N2.forEach(s=>{(c.includes(a[s])||c.some(e=>p4[s].includes(e)))&&(l=s)}),l}function e1(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{family:a=p}=l,s=X3[a][c];if(a===a1&&!c)return"fad";let e=X1[a][c]||X1[a][s],n=c in g.styles?c:null;return e||n||null}function b4(c){let l=[],a=null;return c.forEach(s=>{let e=u4(t.cssPrefix,s);e?a=e:s&&l.push(s)}),{iconName:a,rest:l}}function $1(c){return c.sort().filter((l,a,s)=>s.indexOf(l)===a)}function n1(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{skipLookups:a=!1}=l,s=null,e=C1.concat(B3),n=$1(c.filter(M=>e.includes(M))),o=$1(c.filter(M=>!C1.includes(M))),f=n.filter(M=>(s=M,!x2.includes(M))),[z=null]=f,r=N4(n),m=i(i({},b4(o)),{},{prefix:e1(z,{family:r})});return i(i(i({},m),H4({values:c,family:r,styles:j,config:t,canonical:m,givenPrefix:s})),g4(a,s,m))}function g4(c,l,a){let{prefix:s,iconName:e}=a;if(c||!s||!e)return{prefix:s,iconName:e};let n=l==="fa"?O2(e):{},o=F(s,e);return e=n.iconName||o||e,s=n.prefix||s,s==="far"&&!j.far&&j.fas&&!t.autoFetchSvg&&(s="fas"),{prefix:s,iconName:e}}var v4=N2.filter(c=>c!==p||c!==a1),S4=Object.keys(M1).filter(c=>c!==p).map(c=>Object.keys(M1[c])).flat();function H4(c){let{values:l,family:a,canonical:s,givenPrefix:e="",styles:n={},config:o={}}=c,f=a===a1,z=l.includes("fa-duotone")||l.includes("fad"),r=o.familyDefault==="duotone",m=s.prefix==="fad"||s.prefix==="fa-duotone";if(!f&&(z||r||m)&&(s.prefix="fad"),(l.includes("fa-brands")||l.includes("fab"))&&(s.prefix="fab"),!s.prefix&&v4.includes(a)&&(Object.keys(n).find(L=>S4.includes(L))||o.autoFetchSvg)){let L=w3.get(a).defaultShortPrefixId;s.prefix=L,s.iconName=F(s.prefix,s.iconName)||s.iconName}return(s.prefix==="fa"||e==="fa")&&(s.prefix=y()||"fas"),s}var g1=class{constructor(){this.definitions={}}add(){for(var l=arguments.length,a=new Array(l),s=0;s<l;s++)a[s]=arguments[s];let e=a.reduce(this._pullDefinitions,{});Object.keys(e).forEach(n=>{this.definitions[n]=i(i({},this.definitions[n]||{}),e[n]),b1(n,e[n]);let o=F1[p][n];o&&b1(o,e[n]),E2()})}reset(){this.definitions={}}_pullDefinitions(l,a){let s=a.prefix&&a.iconName&&a.icon?{0:a}:a;return Object.keys(s).map(e=>{let{prefix:n,iconName:o,icon:f}=s[e],z=f[2];l[n]||(l[n]={}),z.length>0&&z.forEach(r=>{typeof r=="string"&&(l[n][r]=f)}),l[n][o]=f}),l}},c2=[],E={},O={},k4=Object.keys(O);function A4(c,l){let{mixoutsTo:a}=l;return c2=c,E={},Object.keys(O).forEach(s=>{k4.indexOf(s)===-1&&delete O[s]}),c2.forEach(s=>{let e=s.mixout?s.mixout():{};if(Object.keys(e).forEach(n=>{typeof e[n]=="function"&&(a[n]=e[n]),typeof e[n]=="object"&&Object.keys(e[n]).forEach(o=>{a[n]||(a[n]={}),a[n][o]=e[n][o]})}),s.hooks){let n=s.hooks();Object.keys(n).forEach(o=>{E[o]||(E[o]=[]),E[o].push(n[o])})}s.provides&&s.provides(O)}),a}function v1(c,l){for(var a=arguments.length,s=new Array(a>2?a-2:0),e=2;e<a;e++)s[e-2]=arguments[e];return(E[c]||[]).forEach(o=>{l=o.apply(null,[l,...s])}),l}function D(c){for(var l=arguments.length,a=new Array(l>1?l-1:0),s=1;s<l;s++)a[s-1]=arguments[s];(E[c]||[]).forEach(n=>{n.apply(null,a)})}function P(){let c=arguments[0],l=Array.prototype.slice.call(arguments,1);return O[c]?O[c].apply(null,l):void 0}function S1(c){c.prefix==="fa"&&(c.prefix="fas");let{iconName:l}=c,a=c.prefix||y();if(l)return l=F(a,l)||l,Q1(I2.definitions,a,l)||Q1(g.styles,a,l)}var I2=new g1,w4=()=>{t.autoReplaceSvg=!1,t.observeMutations=!1,D("noAuto")},V4={i2svg:function(){let c=arguments.length>0&&arguments[0]!==void 0?arguments[0]:{};return k?(D("beforeI2svg",c),P("pseudoElements2svg",c),P("i2svg",c)):Promise.reject(new Error("Operation requires a DOM of some kind."))},watch:function(){let c=arguments.length>0&&arguments[0]!==void 0?arguments[0]:{},{autoReplaceSvgRoot:l}=c;t.autoReplaceSvg===!1&&(t.autoReplaceSvg=!0),t.observeMutations=!0,z4(()=>{P4({autoReplaceSvgRoot:l}),D("watch",c)})}},y4={icon:c=>{if(c===null)return null;if(typeof c=="object"&&c.prefix&&c.iconName)return{prefix:c.prefix,iconName:F(c.prefix,c.iconName)||c.iconName};if(Array.isArray(c)&&c.length===2){let l=c[1].indexOf("fa-")===0?c[1].slice(3):c[1],a=e1(c[0]);return{prefix:a,iconName:F(a,l)||l}}if(typeof c=="string"&&(c.indexOf("".concat(t.cssPrefix,"-"))>-1||c.match(K3))){let l=n1(c.split(" "),{skipLookups:!0});return{prefix:l.prefix||y(),iconName:F(l.prefix,l.iconName)||l.iconName}}if(typeof c=="string"){let l=y();return{prefix:l,iconName:F(l,c)||c}}}},d={noAuto:w4,config:t,dom:V4,parse:y4,library:I2,findIconDefinition:S1,toHtml:X},P4=function(){let c=arguments.length>0&&arguments[0]!==void 0?arguments[0]:{},{autoReplaceSvgRoot:l=C}=c;(Object.keys(g.styles).length>0||t.autoFetchSvg)&&k&&t.autoReplaceSvg&&d.dom.i2svg({node:l})};function o1(c,l){return Object.defineProperty(c,"abstract",{get:l}),Object.defineProperty(c,"html",{get:function(){return c.abstract.map(a=>X(a))}}),Object.defineProperty(c,"node",{get:function(){if(!k)return;let a=C.createElement("div");return a.innerHTML=c.html,a.children}}),c}function T4(c){let{children:l,main:a,mask:s,attributes:e,styles:n,transform:o}=c;if(D1(o)&&a.found&&!s.found){let{width:f,height:z}=a,r={x:f/z/2,y:.5};e.style=s1(i(i({},n),{},{"transform-origin":"".concat(r.x+o.x/16,"em ").concat(r.y+o.y/16,"em")}))}return[{tag:"svg",attributes:e,children:l}]}function F4(c){let{prefix:l,iconName:a,children:s,attributes:e,symbol:n}=c,o=n===!0?"".concat(l,"-").concat(t.cssPrefix,"-").concat(a):n;return[{tag:"svg",attributes:{style:"display: none;"},children:[{tag:"symbol",attributes:i(i({},e),{},{id:o}),children:s}]}]}function E1(c){let{icons:{main:l,mask:a},prefix:s,iconName:e,transform:n,symbol:o,title:f,maskId:z,titleId:r,extra:m,watchable:M=!1}=c,{width:L,height:h}=a.found?a:l,A=F3.includes(s),T=[t.replacementClass,e?"".concat(t.cssPrefix,"-").concat(e):""].filter(R=>m.classes.indexOf(R)===-1).filter(R=>R!==""||!!R).concat(m.classes).join(" "),x={children:[],attributes:i(i({},m.attributes),{},{"data-prefix":s,"data-icon":e,class:T,role:m.attributes.role||"img",xmlns:"http://www.w3.org/2000/svg",viewBox:"0 0 ".concat(L," ").concat(h)})},v=A&&!~m.classes.indexOf("fa-fw")?{width:"".concat(L/h*16*.0625,"em")}:{};M&&(x.attributes[q]=""),f&&(x.children.push({tag:"title",attributes:{id:x.attributes["aria-labelledby"]||"title-".concat(r||_())},children:[f]}),delete x.attributes.title);let u=i(i({},x),{},{prefix:s,iconName:e,main:l,mask:a,maskId:z,transform:n,symbol:o,styles:i(i({},v),m.styles)}),{children:N,attributes:B}=a.found&&l.found?P("generateAbstractMask",u)||{children:[],attributes:{}}:P("generateAbstractIcon",u)||{children:[],attributes:{}};return u.children=N,u.attributes=B,o?F4(u):T4(u)}function l2(c){let{content:l,width:a,height:s,transform:e,title:n,extra:o,watchable:f=!1}=c,z=i(i(i({},o.attributes),n?{title:n}:{}),{},{class:o.classes.join(" ")});f&&(z[q]="");let r=i({},o.styles);D1(e)&&(r.transform=f4({transform:e,startCentered:!0,width:a,height:s}),r["-webkit-transform"]=r.transform);let m=s1(r);m.length>0&&(z.style=m);let M=[];return M.push({tag:"span",attributes:z,children:[l]}),n&&M.push({tag:"span",attributes:{class:"sr-only"},children:[n]}),M}function q4(c){let{content:l,title:a,extra:s}=c,e=i(i(i({},s.attributes),a?{title:a}:{}),{},{class:s.classes.join(" ")}),n=s1(s.styles);n.length>0&&(e.style=n);let o=[];return o.push({tag:"span",attributes:e,children:[l]}),a&&o.push({tag:"span",attributes:{class:"sr-only"},children:[a]}),o}var{styles:m1}=g;function H1(c){let l=c[0],a=c[1],[s]=c.slice(4),e=null;return Array.isArray(s)?e={tag:"g",attributes:{class:"".concat(t.cssPrefix,"-").concat(t1.GROUP)},children:[{tag:"path",attributes:{class:"".concat(t.cssPrefix,"-").concat(t1.SECONDARY),fill:"currentColor",d:s[0]}},{tag:"path",attributes:{class:"".concat(t.cssPrefix,"-").concat(t1.PRIMARY),fill:"currentColor",d:s[1]}}]}:e={tag:"path",attributes:{fill:"currentColor",d:s}},{found:!0,width:l,height:a,icon:e}}var D4={found:!1,width:512,height:512};function B4(c,l){!S2&&!t.showMissingIcons&&c&&console.error('Icon with name "'.concat(c,'" and prefix "').concat(l,'" is missing.'))}function k1(c,l){let a=l;return l==="fa"&&t.styleDefault!==null&&(l=y()),new Promise((s,e)=>{if(a==="fa"){let n=O2(c)||{};c=n.iconName||c,l=n.prefix||l}if(c&&l&&m1[l]&&m1[l][c]){let n=m1[l][c];return s(H1(n))}B4(c,l),s(i(i({},D4),{},{icon:t.showMissingIcons&&c?P("missingIconAbstract")||{}:{}}))})}var a2=()=>{},A1=t.measurePerformance&&K&&K.mark&&K.measure?K:{mark:a2,measure:a2},U='FA "6.7.2"',R4=c=>(A1.mark("".concat(U," ").concat(c," begins")),()=>U2(c)),U2=c=>{A1.mark("".concat(U," ").concat(c," ends")),A1.measure("".concat(U," ").concat(c),"".concat(U," ").concat(c," begins"),"".concat(U," ").concat(c," ends"))},O1={begin:R4,end:U2},J=()=>{};function s2(c){return typeof(c.getAttribute?c.getAttribute(q):null)=="string"}function E4(c){let l=c.getAttribute?c.getAttribute(P1):null,a=c.getAttribute?c.getAttribute(T1):null;return l&&a}function O4(c){return c&&c.classList&&c.classList.contains&&c.classList.contains(t.replacementClass)}function Z4(){return t.autoReplaceSvg===!0?$.replace:$[t.autoReplaceSvg]||$.replace}function I4(c){return C.createElementNS("http://www.w3.org/2000/svg",c)}function U4(c){return C.createElement(c)}function G2(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{ceFn:a=c.tag==="svg"?I4:U4}=l;if(typeof c=="string")return C.createTextNode(c);let s=a(c.tag);return Object.keys(c.attributes||[]).forEach(function(n){s.setAttribute(n,c.attributes[n])}),(c.children||[]).forEach(function(n){s.appendChild(G2(n,{ceFn:a}))}),s}function G4(c){let l=" ".concat(c.outerHTML," ");return l="".concat(l,"Font Awesome fontawesome.com "),l}var $={replace:function(c){let l=c[0];if(l.parentNode)if(c[1].forEach(a=>{l.parentNode.insertBefore(G2(a),l)}),l.getAttribute(q)===null&&t.keepOriginalSource){let a=C.createComment(G4(l));l.parentNode.replaceChild(a,l)}else l.remove()},nest:function(c){let l=c[0],a=c[1];if(~q1(l).indexOf(t.replacementClass))return $.replace(c);let s=new RegExp("".concat(t.cssPrefix,"-.*"));if(delete a[0].attributes.id,a[0].attributes.class){let n=a[0].attributes.class.split(" ").reduce((o,f)=>(f===t.replacementClass||f.match(s)?o.toSvg.push(f):o.toNode.push(f),o),{toNode:[],toSvg:[]});a[0].attributes.class=n.toSvg.join(" "),n.toNode.length===0?l.removeAttribute("class"):l.setAttribute("class",n.toNode.join(" "))}let e=a.map(n=>X(n)).join(`
`);l.setAttribute(q,""),l.innerHTML=e}};function e2(c){c()}function W2(c,l){let a=typeof l=="function"?l:J;if(c.length===0)a();else{let s=e2;t.mutateApproach===j3&&(s=V.requestAnimationFrame||e2),s(()=>{let e=Z4(),n=O1.begin("mutate");c.map(e),n(),a()})}}var Z1=!1;function _2(){Z1=!0}function w1(){Z1=!1}var l1=null;function n2(c){if(!W1||!t.observeMutations)return;let{treeCallback:l=J,nodeCallback:a=J,pseudoElementsCallback:s=J,observeMutationsRoot:e=C}=c;l1=new W1(n=>{if(Z1)return;let o=y();I(n).forEach(f=>{if(f.type==="childList"&&f.addedNodes.length>0&&!s2(f.addedNodes[0])&&(t.searchPseudoElements&&s(f.target),l(f.target)),f.type==="attributes"&&f.target.parentNode&&t.searchPseudoElements&&s(f.target.parentNode),f.type==="attributes"&&s2(f.target)&&~$3.indexOf(f.attributeName))if(f.attributeName==="class"&&E4(f.target)){let{prefix:z,iconName:r}=n1(q1(f.target));f.target.setAttribute(P1,z||o),r&&f.target.setAttribute(T1,r)}else O4(f.target)&&a(f.target)})}),k&&l1.observe(e,{childList:!0,attributes:!0,characterData:!0,subtree:!0})}function W4(){l1&&l1.disconnect()}function _4(c){let l=c.getAttribute("style"),a=[];return l&&(a=l.split(";").reduce((s,e)=>{let n=e.split(":"),o=n[0],f=n.slice(1);return o&&f.length>0&&(s[o]=f.join(":").trim()),s},{})),a}function j4(c){let l=c.getAttribute("data-prefix"),a=c.getAttribute("data-icon"),s=c.innerText!==void 0?c.innerText.trim():"",e=n1(q1(c));return e.prefix||(e.prefix=y()),l&&a&&(e.prefix=l,e.iconName=a),e.iconName&&e.prefix||(e.prefix&&s.length>0&&(e.iconName=d4(e.prefix,c.innerText)||R1(e.prefix,N1(c.innerText))),!e.iconName&&t.autoFetchSvg&&c.firstChild&&c.firstChild.nodeType===Node.TEXT_NODE&&(e.iconName=c.firstChild.data)),e}function Y4(c){let l=I(c.attributes).reduce((e,n)=>(e.name!=="class"&&e.name!=="style"&&(e[n.name]=n.value),e),{}),a=c.getAttribute("title"),s=c.getAttribute("data-fa-title-id");return t.autoA11y&&(a?l["aria-labelledby"]="".concat(t.replacementClass,"-title-").concat(s||_()):(l["aria-hidden"]="true",l.focusable="false")),l}function X4(){return{iconName:null,title:null,titleId:null,prefix:null,transform:b,symbol:!1,mask:{iconName:null,prefix:null,rest:[]},maskId:null,extra:{classes:[],styles:{},attributes:{}}}}function o2(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{styleParser:!0},{iconName:a,prefix:s,rest:e}=j4(c),n=Y4(c),o=v1("parseNodeAttributes",{},c),f=l.styleParser?_4(c):[];return i({iconName:a,title:c.getAttribute("title"),titleId:c.getAttribute("data-fa-title-id"),prefix:s,transform:b,mask:{iconName:null,prefix:null,rest:[]},maskId:null,symbol:!1,extra:{classes:e,styles:f,attributes:n}},o)}var{styles:K4}=g;function j2(c){let l=t.autoReplaceSvg==="nest"?o2(c,{styleParser:!1}):o2(c);return~l.extra.classes.indexOf(k2)?P("generateLayersText",c,l):P("generateSvgReplacementMutation",c,l)}function Q4(){return[...y3,...C1]}function i2(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:null;if(!k)return Promise.resolve();let a=C.documentElement.classList,s=m=>a.add("".concat(Y1,"-").concat(m)),e=m=>a.remove("".concat(Y1,"-").concat(m)),n=t.autoFetchSvg?Q4():x2.concat(Object.keys(K4));n.includes("fa")||n.push("fa");let o=[".".concat(k2,":not([").concat(q,"])")].concat(n.map(m=>".".concat(m,":not([").concat(q,"])"))).join(", ");if(o.length===0)return Promise.resolve();let f=[];try{f=I(c.querySelectorAll(o))}catch{}if(f.length>0)s("pending"),e("complete");else return Promise.resolve();let z=O1.begin("onTree"),r=f.reduce((m,M)=>{try{let L=j2(M);L&&m.push(L)}catch(L){S2||L.name==="MissingIcon"&&console.error(L)}return m},[]);return new Promise((m,M)=>{Promise.all(r).then(L=>{W2(L,()=>{s("active"),s("complete"),e("pending"),typeof l=="function"&&l(),z(),m()})}).catch(L=>{z(),M(L)})})}function J4(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:null;j2(c).then(a=>{a&&W2([a],l)})}function $4(c){return function(l){let a=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},s=(l||{}).icon?l:S1(l||{}),{mask:e}=a;return e&&(e=(e||{}).icon?e:S1(e||{})),c(s,i(i({},a),{},{mask:e}))}}var c0=function(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{transform:a=b,symbol:s=!1,mask:e=null,maskId:n=null,title:o=null,titleId:f=null,classes:z=[],attributes:r={},styles:m={}}=l;if(!c)return;let{prefix:M,iconName:L,icon:h}=c;return o1(i({type:"icon"},c),()=>(D("beforeDOMElementCreation",{iconDefinition:c,params:l}),t.autoA11y&&(o?r["aria-labelledby"]="".concat(t.replacementClass,"-title-").concat(f||_()):(r["aria-hidden"]="true",r.focusable="false")),E1({icons:{main:H1(h),mask:e?H1(e.icon):{found:!1,width:null,height:null,icon:{}}},prefix:M,iconName:L,transform:i(i({},b),a),symbol:s,title:o,maskId:n,titleId:f,extra:{attributes:r,styles:m,classes:z}})))},l0={mixout(){return{icon:$4(c0)}},hooks(){return{mutationObserverCallbacks(c){return c.treeCallback=i2,c.nodeCallback=J4,c}}},provides(c){c.i2svg=function(l){let{node:a=C,callback:s=()=>{}}=l;return i2(a,s)},c.generateSvgReplacementMutation=function(l,a){let{iconName:s,title:e,titleId:n,prefix:o,transform:f,symbol:z,mask:r,maskId:m,extra:M}=a;return new Promise((L,h)=>{Promise.all([k1(s,o),r.iconName?k1(r.iconName,r.prefix):Promise.resolve({found:!1,width:512,height:512,icon:{}})]).then(A=>{let[T,x]=A;L([l,E1({icons:{main:T,mask:x},prefix:o,iconName:s,transform:f,symbol:z,maskId:m,title:e,titleId:n,extra:M,watchable:!0})])}).catch(h)})},c.generateAbstractIcon=function(l){let{children:a,attributes:s,main:e,transform:n,styles:o}=l,f=s1(o);f.length>0&&(s.style=f);let z;return D1(n)&&(z=P("generateAbstractTransformGrouping",{main:e,transform:n,containerWidth:e.width,iconWidth:e.width})),a.push(z||e.icon),{children:a,attributes:s}}}},a0={mixout(){return{layer(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{classes:a=[]}=l;return o1({type:"layer"},()=>{D("beforeDOMElementCreation",{assembler:c,params:l});let s=[];return c(e=>{Array.isArray(e)?e.map(n=>{s=s.concat(n.abstract)}):s=s.concat(e.abstract)}),[{tag:"span",attributes:{class:["".concat(t.cssPrefix,"-layers"),...a].join(" ")},children:s}]})}}}},s0={mixout(){return{counter(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{title:a=null,classes:s=[],attributes:e={},styles:n={}}=l;return o1({type:"counter",content:c},()=>(D("beforeDOMElementCreation",{content:c,params:l}),q4({content:c.toString(),title:a,extra:{attributes:e,styles:n,classes:["".concat(t.cssPrefix,"-layers-counter"),...s]}})))}}}},e0={mixout(){return{text(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{},{transform:a=b,title:s=null,classes:e=[],attributes:n={},styles:o={}}=l;return o1({type:"text",content:c},()=>(D("beforeDOMElementCreation",{content:c,params:l}),l2({content:c,transform:i(i({},b),a),title:s,extra:{attributes:n,styles:o,classes:["".concat(t.cssPrefix,"-layers-text"),...e]}})))}}},provides(c){c.generateLayersText=function(l,a){let{title:s,transform:e,extra:n}=a,o=null,f=null;if(u2){let z=parseInt(getComputedStyle(l).fontSize,10),r=l.getBoundingClientRect();o=r.width/z,f=r.height/z}return t.autoA11y&&!s&&(n.attributes["aria-hidden"]="true"),Promise.resolve([l,l2({content:l.innerHTML,width:o,height:f,transform:e,title:s,extra:n,watchable:!0})])}}},n0=new RegExp('"',"ug"),f2=[1105920,1112319],t2=i(i(i(i({},{FontAwesome:{normal:"fas",400:"fas"}}),A3),W3),R3),V1=Object.keys(t2).reduce((c,l)=>(c[l.toLowerCase()]=t2[l],c),{}),o0=Object.keys(V1).reduce((c,l)=>{let a=V1[l];return c[l]=a[900]||[...Object.entries(a)][0][1],c},{});function i0(c){let l=c.replace(n0,""),a=M4(l,0),s=a>=f2[0]&&a<=f2[1],e=l.length===2?l[0]===l[1]:!1;return{value:N1(e?l[0]:l),isSecondary:s||e}}function f0(c,l){let a=c.replace(/^['"]|['"]$/g,"").toLowerCase(),s=parseInt(l),e=isNaN(s)?"normal":s;return(V1[a]||{})[e]||o0[a]}function r2(c,l){let a="".concat(_3).concat(l.replace(":","-"));return new Promise((s,e)=>{if(c.getAttribute(a)!==null)return s();let o=I(c.children).filter(L=>L.getAttribute(h1)===l)[0],f=V.getComputedStyle(c,l),z=f.getPropertyValue("font-family"),r=z.match(Q3),m=f.getPropertyValue("font-weight"),M=f.getPropertyValue("content");if(o&&!r)return c.removeChild(o),s();if(r&&M!=="none"&&M!==""){let L=f.getPropertyValue("content"),h=f0(z,m),{value:A,isSecondary:T}=i0(L),x=r[0].startsWith("FontAwesome"),v=R1(h,A),u=v;if(x){let N=x4(A);N.iconName&&N.prefix&&(v=N.iconName,h=N.prefix)}if(v&&!T&&(!o||o.getAttribute(P1)!==h||o.getAttribute(T1)!==u)){c.setAttribute(a,u),o&&c.removeChild(o);let N=X4(),{extra:B}=N;B.attributes[h1]=l,k1(v,h).then(R=>{let h3=E1(i(i({},N),{},{icons:{main:R,mask:Z2()},prefix:h,iconName:u,extra:B,watchable:!0})),f1=C.createElementNS("http://www.w3.org/2000/svg","svg");l==="::before"?c.insertBefore(f1,c.firstChild):c.appendChild(f1),f1.outerHTML=h3.map(u3=>X(u3)).join(`
`),c.removeAttribute(a),s()}).catch(e)}else s()}else s()})}function t0(c){return Promise.all([r2(c,"::before"),r2(c,"::after")])}function r0(c){return c.parentNode!==document.head&&!~Y3.indexOf(c.tagName.toUpperCase())&&!c.getAttribute(h1)&&(!c.parentNode||c.parentNode.tagName!=="svg")}function z2(c){if(k)return new Promise((l,a)=>{let s=I(c.querySelectorAll("*")).filter(r0).map(t0),e=O1.begin("searchPseudoElements");_2(),Promise.all(s).then(()=>{e(),w1(),l()}).catch(()=>{e(),w1(),a()})})}var z0={hooks(){return{mutationObserverCallbacks(c){return c.pseudoElementsCallback=z2,c}}},provides(c){c.pseudoElements2svg=function(l){let{node:a=C}=l;t.searchPseudoElements&&z2(a)}}},m2=!1,m0={mixout(){return{dom:{unwatch(){_2(),m2=!0}}}},hooks(){return{bootstrap(){n2(v1("mutationObserverCallbacks",{}))},noAuto(){W4()},watch(c){let{observeMutationsRoot:l}=c;m2?w1():n2(v1("mutationObserverCallbacks",{observeMutationsRoot:l}))}}}},L2=c=>{let l={size:16,x:0,y:0,flipX:!1,flipY:!1,rotate:0};return c.toLowerCase().split(" ").reduce((a,s)=>{let e=s.toLowerCase().split("-"),n=e[0],o=e.slice(1).join("-");if(n&&o==="h")return a.flipX=!0,a;if(n&&o==="v")return a.flipY=!0,a;if(o=parseFloat(o),isNaN(o))return a;switch(n){case"grow":a.size=a.size+o;break;case"shrink":a.size=a.size-o;break;case"left":a.x=a.x-o;break;case"right":a.x=a.x+o;break;case"up":a.y=a.y-o;break;case"down":a.y=a.y+o;break;case"rotate":a.rotate=a.rotate+o;break}return a},l)},L0={mixout(){return{parse:{transform:c=>L2(c)}}},hooks(){return{parseNodeAttributes(c,l){let a=l.getAttribute("data-fa-transform");return a&&(c.transform=L2(a)),c}}},provides(c){c.generateAbstractTransformGrouping=function(l){let{main:a,transform:s,containerWidth:e,iconWidth:n}=l,o={transform:"translate(".concat(e/2," 256)")},f="translate(".concat(s.x*32,", ").concat(s.y*32,") "),z="scale(".concat(s.size/16*(s.flipX?-1:1),", ").concat(s.size/16*(s.flipY?-1:1),") "),r="rotate(".concat(s.rotate," 0 0)"),m={transform:"".concat(f," ").concat(z," ").concat(r)},M={transform:"translate(".concat(n/2*-1," -256)")},L={outer:o,inner:m,path:M};return{tag:"g",attributes:i({},L.outer),children:[{tag:"g",attributes:i({},L.inner),children:[{tag:a.icon.tag,children:a.icon.children,attributes:i(i({},a.icon.attributes),L.path)}]}]}}}},L1={x:0,y:0,width:"100%",height:"100%"};function M2(c){let l=arguments.length>1&&arguments[1]!==void 0?arguments[1]:!0;return c.attributes&&(c.attributes.fill||l)&&(c.attributes.fill="black"),c}function M0(c){return c.tag==="g"?c.children:[c]}var C0={hooks(){return{parseNodeAttributes(c,l){let a=l.getAttribute("data-fa-mask"),s=a?n1(a.split(" ").map(e=>e.trim())):Z2();return s.prefix||(s.prefix=y()),c.mask=s,c.maskId=l.getAttribute("data-fa-mask-id"),c}}},provides(c){c.generateAbstractMask=function(l){let{children:a,attributes:s,main:e,mask:n,maskId:o,transform:f}=l,{width:z,icon:r}=e,{width:m,icon:M}=n,L=i4({transform:f,containerWidth:m,iconWidth:z}),h={tag:"rect",attributes:i(i({},L1),{},{fill:"white"})},A=r.children?{children:r.children.map(M2)}:{},T={tag:"g",attributes:i({},L.inner),children:[M2(i({tag:r.tag,attributes:i(i({},r.attributes),L.path)},A))]},x={tag:"g",attributes:i({},L.outer),children:[T]},v="mask-".concat(o||_()),u="clip-".concat(o||_()),N={tag:"mask",attributes:i(i({},L1),{},{id:v,maskUnits:"userSpaceOnUse",maskContentUnits:"userSpaceOnUse"}),children:[h,x]},B={tag:"defs",children:[{tag:"clipPath",attributes:{id:u},children:M0(M)},N]};return a.push(B,{tag:"rect",attributes:i({fill:"currentColor","clip-path":"url(#".concat(u,")"),mask:"url(#".concat(v,")")},L1)}),{children:a,attributes:s}}}},p0={provides(c){let l=!1;V.matchMedia&&(l=V.matchMedia("(prefers-reduced-motion: reduce)").matches),c.missingIconAbstract=function(){let a=[],s={fill:"currentColor"},e={attributeType:"XML",repeatCount:"indefinite",dur:"2s"};a.push({tag:"path",attributes:i(i({},s),{},{d:"M156.5,447.7l-12.6,29.5c-18.7-9.5-35.9-21.2-51.5-34.9l22.7-22.7C127.6,430.5,141.5,440,156.5,447.7z M40.6,272H8.5 c1.4,21.2,5.4,41.7,11.7,61.1L50,321.2C45.1,305.5,41.8,289,40.6,272z M40.6,240c1.4-18.8,5.2-37,11.1-54.1l-29.5-12.6 C14.7,194.3,10,216.7,8.5,240H40.6z M64.3,156.5c7.8-14.9,17.2-28.8,28.1-41.5L69.7,92.3c-13.7,15.6-25.5,32.8-34.9,51.5 L64.3,156.5z M397,419.6c-13.9,12-29.4,22.3-46.1,30.4l11.9,29.8c20.7-9.9,39.8-22.6,56.9-37.6L397,419.6z M115,92.4 c13.9-12,29.4-22.3,46.1-30.4l-11.9-29.8c-20.7,9.9-39.8,22.6-56.8,37.6L115,92.4z M447.7,355.5c-7.8,14.9-17.2,28.8-28.1,41.5 l22.7,22.7c13.7-15.6,25.5-32.9,34.9-51.5L447.7,355.5z M471.4,272c-1.4,18.8-5.2,37-11.1,54.1l29.5,12.6 c7.5-21.1,12.2-43.5,13.6-66.8H471.4z M321.2,462c-15.7,5-32.2,8.2-49.2,9.4v32.1c21.2-1.4,41.7-5.4,61.1-11.7L321.2,462z M240,471.4c-18.8-1.4-37-5.2-54.1-11.1l-12.6,29.5c21.1,7.5,43.5,12.2,66.8,13.6V471.4z M462,190.8c5,15.7,8.2,32.2,9.4,49.2h32.1 c-1.4-21.2-5.4-41.7-11.7-61.1L462,190.8z M92.4,397c-12-13.9-22.3-29.4-30.4-46.1l-29.8,11.9c9.9,20.7,22.6,39.8,37.6,56.9 L92.4,397z M272,40.6c18.8,1.4,36.9,5.2,54.1,11.1l12.6-29.5C317.7,14.7,295.3,10,272,8.5V40.6z M190.8,50 c15.7-5,32.2-8.2,49.2-9.4V8.5c-21.2,1.4-41.7,5.4-61.1,11.7L190.8,50z M442.3,92.3L419.6,115c12,13.9,22.3,29.4,30.5,46.1 l29.8-11.9C470,128.5,457.3,109.4,442.3,92.3z M397,92.4l22.7-22.7c-15.6-13.7-32.8-25.5-51.5-34.9l-12.6,29.5 C370.4,72.1,384.4,81.5,397,92.4z"})});let n=i(i({},e),{},{attributeName:"opacity"}),o={tag:"circle",attributes:i(i({},s),{},{cx:"256",cy:"364",r:"28"}),children:[]};return l||o.children.push({tag:"animate",attributes:i(i({},e),{},{attributeName:"r",values:"28;14;28;28;14;28;"})},{tag:"animate",attributes:i(i({},n),{},{values:"1;0;1;1;0;1;"})}),a.push(o),a.push({tag:"path",attributes:i(i({},s),{},{opacity:"1",d:"M263.7,312h-16c-6.6,0-12-5.4-12-12c0-71,77.4-63.9,77.4-107.8c0-20-17.8-40.2-57.4-40.2c-29.1,0-44.3,9.6-59.2,28.7 c-3.9,5-11.1,6-16.2,2.4l-13.1-9.2c-5.6-3.9-6.9-11.8-2.6-17.2c21.2-27.2,46.4-44.7,91.2-44.7c52.3,0,97.4,29.8,97.4,80.2 c0,67.6-77.4,63.5-77.4,107.8C275.7,306.6,270.3,312,263.7,312z"}),children:l?[]:[{tag:"animate",attributes:i(i({},n),{},{values:"1;0;0;0;0;1;"})}]}),l||a.push({tag:"path",attributes:i(i({},s),{},{opacity:"0",d:"M232.5,134.5l7,168c0.3,6.4,5.6,11.5,12,11.5h9c6.4,0,11.7-5.1,12-11.5l7-168c0.3-6.8-5.2-12.5-12-12.5h-23 C237.7,122,232.2,127.7,232.5,134.5z"}),children:[{tag:"animate",attributes:i(i({},n),{},{values:"0;0;1;1;0;0;"})}]}),{tag:"g",attributes:{class:"missing"},children:a}}}},h0={hooks(){return{parseNodeAttributes(c,l){let a=l.getAttribute("data-fa-symbol"),s=a===null?!1:a===""?!0:a;return c.symbol=s,c}}}},u0=[r4,l0,a0,s0,e0,z0,m0,L0,C0,p0,h0];A4(u0,{mixoutsTo:d});var g0=d.noAuto,Y2=d.config,i1=d.library,X2=d.dom,v0=d.parse,S0=d.findIconDefinition,H0=d.toHtml,k0=d.icon,A0=d.layer,w0=d.text,V0=d.counter;var K2={prefix:"fab",iconName:"square-github",icon:[448,512,["github-square"],"f092","M448 96c0-35.3-28.7-64-64-64H64C28.7 32 0 60.7 0 96V416c0 35.3 28.7 64 64 64H384c35.3 0 64-28.7 64-64V96zM265.8 407.7c0-1.8 0-6 .1-11.6c.1-11.4 .1-28.8 .1-43.7c0-15.6-5.2-25.5-11.3-30.7c37-4.1 76-9.2 76-73.1c0-18.2-6.5-27.3-17.1-39c1.7-4.3 7.4-22-1.7-45c-13.9-4.3-45.7 17.9-45.7 17.9c-13.2-3.7-27.5-5.6-41.6-5.6s-28.4 1.9-41.6 5.6c0 0-31.8-22.2-45.7-17.9c-9.1 22.9-3.5 40.6-1.7 45c-10.6 11.7-15.6 20.8-15.6 39c0 63.6 37.3 69 74.3 73.1c-4.8 4.3-9.1 11.7-10.6 22.3c-9.5 4.3-33.8 11.7-48.3-13.9c-9.1-15.8-25.5-17.1-25.5-17.1c-16.2-.2-1.1 10.2-1.1 10.2c10.8 5 18.4 24.2 18.4 24.2c9.7 29.7 56.1 19.7 56.1 19.7c0 9 .1 21.7 .1 30.6c0 4.8 .1 8.6 .1 10c0 4.3-3 9.5-11.5 8C106 393.6 59.8 330.8 59.8 257.4c0-91.8 70.2-161.5 162-161.5s166.2 69.7 166.2 161.5c.1 73.4-44.7 136.3-110.7 158.3c-8.4 1.5-11.5-3.7-11.5-8zm-90.5-54.8c-.2-1.5 1.1-2.8 3-3.2c1.9-.2 3.7 .6 3.9 1.9c.3 1.3-1 2.6-3 3c-1.9 .4-3.7-.4-3.9-1.7zm-9.1 3.2c-2.2 .2-3.7-.9-3.7-2.4c0-1.3 1.5-2.4 3.5-2.4c1.9-.2 3.7 .9 3.7 2.4c0 1.3-1.5 2.4-3.5 2.4zm-14.3-2.2c-1.9-.4-3.2-1.9-2.8-3.2s2.4-1.9 4.1-1.5c2 .6 3.3 2.1 2.8 3.4c-.4 1.3-2.4 1.9-4.1 1.3zm-12.5-7.3c-1.5-1.3-1.9-3.2-.9-4.1c.9-1.1 2.8-.9 4.3 .6c1.3 1.3 1.8 3.3 .9 4.1c-.9 1.1-2.8 .9-4.3-.6zm-8.5-10c-1.1-1.5-1.1-3.2 0-3.9c1.1-.9 2.8-.2 3.7 1.3c1.1 1.5 1.1 3.3 0 4.1c-.9 .6-2.6 0-3.7-1.5zm-6.3-8.8c-1.1-1.3-1.3-2.8-.4-3.5c.9-.9 2.4-.4 3.5 .6c1.1 1.3 1.3 2.8 .4 3.5c-.9 .9-2.4 .4-3.5-.6zm-6-6.4c-1.3-.6-1.9-1.7-1.5-2.6c.4-.6 1.5-.9 2.8-.4c1.3 .7 1.9 1.8 1.5 2.6c-.4 .9-1.7 1.1-2.8 .4z"]};var Q2={prefix:"fab",iconName:"github",icon:[496,512,[],"f09b","M165.9 397.4c0 2-2.3 3.6-5.2 3.6-3.3.3-5.6-1.3-5.6-3.6 0-2 2.3-3.6 5.2-3.6 3-.3 5.6 1.3 5.6 3.6zm-31.1-4.5c-.7 2 1.3 4.3 4.3 4.9 2.6 1 5.6 0 6.2-2s-1.3-4.3-4.3-5.2c-2.6-.7-5.5.3-6.2 2.3zm44.2-1.7c-2.9.7-4.9 2.6-4.6 4.9.3 2 2.9 3.3 5.9 2.6 2.9-.7 4.9-2.6 4.6-4.6-.3-1.9-3-3.2-5.9-2.9zM244.8 8C106.1 8 0 113.3 0 252c0 110.9 69.8 205.8 169.5 239.2 12.8 2.3 17.3-5.6 17.3-12.1 0-6.2-.3-40.4-.3-61.4 0 0-70 15-84.7-29.8 0 0-11.4-29.1-27.8-36.6 0 0-22.9-15.7 1.6-15.4 0 0 24.9 2 38.6 25.8 21.9 38.6 58.6 27.5 72.9 20.9 2.3-16 8.8-27.1 16-33.7-55.9-6.2-112.3-14.3-112.3-110.5 0-27.5 7.6-41.3 23.6-58.9-2.6-6.5-11.1-33.3 2.6-67.9 20.9-6.5 69 27 69 27 20-5.6 41.5-8.5 62.8-8.5s42.8 2.9 62.8 8.5c0 0 48.1-33.6 69-27 13.7 34.7 5.2 61.4 2.6 67.9 16 17.7 25.8 31.5 25.8 58.9 0 96.5-58.9 104.2-114.8 110.5 9.2 7.9 17 22.9 17 46.4 0 33.7-.3 75.4-.3 83.6 0 6.5 4.6 14.4 17.3 12.1C428.2 457.8 496 362.9 496 252 496 113.3 383.5 8 244.8 8zM97.2 352.9c-1.3 1-1 3.3.7 5.2 1.6 1.6 3.9 2.3 5.2 1 1.3-1 1-3.3-.7-5.2-1.6-1.6-3.9-2.3-5.2-1zm-10.8-8.1c-.7 1.3.3 2.9 2.3 3.9 1.6 1 3.6.7 4.3-.7.7-1.3-.3-2.9-2.3-3.9-2-.6-3.6-.3-4.3.7zm32.4 35.6c-1.6 1.3-1 4.3 1.3 6.2 2.3 2.3 5.2 2.6 6.5 1 1.3-1.3.7-4.3-1.3-6.2-2.2-2.3-5.2-2.6-6.5-1zm-11.4-14.7c-1.6 1-1.6 3.6 0 5.9 1.6 2.3 4.3 3.3 5.6 2.3 1.6-1.3 1.6-3.9 0-6.2-1.4-2.3-4-3.3-5.6-2z"]};var J2={prefix:"fas",iconName:"file-lines",icon:[384,512,[128441,128462,61686,"file-alt","file-text"],"f15c","M64 0C28.7 0 0 28.7 0 64L0 448c0 35.3 28.7 64 64 64l256 0c35.3 0 64-28.7 64-64l0-288-128 0c-17.7 0-32-14.3-32-32L224 0 64 0zM256 0l0 128 128 0L256 0zM112 256l160 0c8.8 0 16 7.2 16 16s-7.2 16-16 16l-160 0c-8.8 0-16-7.2-16-16s7.2-16 16-16zm0 64l160 0c8.8 0 16 7.2 16 16s-7.2 16-16 16l-160 0c-8.8 0-16-7.2-16-16s7.2-16 16-16zm0 64l160 0c8.8 0 16 7.2 16 16s-7.2 16-16 16l-160 0c-8.8 0-16-7.2-16-16s7.2-16 16-16z"]};var $2={prefix:"fas",iconName:"bars",icon:[448,512,["navicon"],"f0c9","M0 96C0 78.3 14.3 64 32 64l384 0c17.7 0 32 14.3 32 32s-14.3 32-32 32L32 128C14.3 128 0 113.7 0 96zM0 256c0-17.7 14.3-32 32-32l384 0c17.7 0 32 14.3 32 32s-14.3 32-32 32L32 288c-17.7 0-32-14.3-32-32zM448 416c0 17.7-14.3 32-32 32L32 448c-17.7 0-32-14.3-32-32s14.3-32 32-32l384 0c17.7 0 32 14.3 32 32z"]};var c3={prefix:"fas",iconName:"lightbulb",icon:[384,512,[128161],"f0eb","M272 384c9.6-31.9 29.5-59.1 49.2-86.2c0 0 0 0 0 0c5.2-7.1 10.4-14.2 15.4-21.4c19.8-28.5 31.4-63 31.4-100.3C368 78.8 289.2 0 192 0S16 78.8 16 176c0 37.3 11.6 71.9 31.4 100.3c5 7.2 10.2 14.3 15.4 21.4c0 0 0 0 0 0c19.8 27.1 39.7 54.4 49.2 86.2l160 0zM192 512c44.2 0 80-35.8 80-80l0-16-160 0 0 16c0 44.2 35.8 80 80 80zM112 176c0 8.8-7.2 16-16 16s-16-7.2-16-16c0-61.9 50.1-112 112-112c8.8 0 16 7.2 16 16s-7.2 16-16 16c-44.2 0-80 35.8-80 80z"]};var l3={prefix:"fas",iconName:"list",icon:[512,512,["list-squares"],"f03a","M40 48C26.7 48 16 58.7 16 72l0 48c0 13.3 10.7 24 24 24l48 0c13.3 0 24-10.7 24-24l0-48c0-13.3-10.7-24-24-24L40 48zM192 64c-17.7 0-32 14.3-32 32s14.3 32 32 32l288 0c17.7 0 32-14.3 32-32s-14.3-32-32-32L192 64zm0 160c-17.7 0-32 14.3-32 32s14.3 32 32 32l288 0c17.7 0 32-14.3 32-32s-14.3-32-32-32l-288 0zm0 160c-17.7 0-32 14.3-32 32s14.3 32 32 32l288 0c17.7 0 32-14.3 32-32s-14.3-32-32-32l-288 0zM16 232l0 48c0 13.3 10.7 24 24 24l48 0c13.3 0 24-10.7 24-24l0-48c0-13.3-10.7-24-24-24l-48 0c-13.3 0-24 10.7-24 24zM40 368c-13.3 0-24 10.7-24 24l0 48c0 13.3 10.7 24 24 24l48 0c13.3 0 24-10.7 24-24l0-48c0-13.3-10.7-24-24-24l-48 0z"]};var a3={prefix:"fas",iconName:"angle-right",icon:[320,512,[8250],"f105","M278.6 233.4c12.5 12.5 12.5 32.8 0 45.3l-160 160c-12.5 12.5-32.8 12.5-45.3 0s-12.5-32.8 0-45.3L210.7 256 73.4 118.6c-12.5-12.5-12.5-32.8 0-45.3s32.8-12.5 45.3 0l160 160z"]};var s3={prefix:"fas",iconName:"file-pdf",icon:[512,512,[],"f1c1","M0 64C0 28.7 28.7 0 64 0L224 0l0 128c0 17.7 14.3 32 32 32l128 0 0 144-208 0c-35.3 0-64 28.7-64 64l0 144-48 0c-35.3 0-64-28.7-64-64L0 64zm384 64l-128 0L256 0 384 128zM176 352l32 0c30.9 0 56 25.1 56 56s-25.1 56-56 56l-16 0 0 32c0 8.8-7.2 16-16 16s-16-7.2-16-16l0-48 0-80c0-8.8 7.2-16 16-16zm32 80c13.3 0 24-10.7 24-24s-10.7-24-24-24l-16 0 0 48 16 0zm96-80l32 0c26.5 0 48 21.5 48 48l0 64c0 26.5-21.5 48-48 48l-32 0c-8.8 0-16-7.2-16-16l0-128c0-8.8 7.2-16 16-16zm32 128c8.8 0 16-7.2 16-16l0-64c0-8.8-7.2-16-16-16l-16 0 0 96 16 0zm80-112c0-8.8 7.2-16 16-16l48 0c8.8 0 16 7.2 16 16s-7.2 16-16 16l-32 0 0 32 32 0c8.8 0 16 7.2 16 16s-7.2 16-16 16l-32 0 0 48c0 8.8-7.2 16-16 16s-16-7.2-16-16l0-64 0-64z"]};var e3={prefix:"fas",iconName:"download",icon:[512,512,[],"f019","M288 32c0-17.7-14.3-32-32-32s-32 14.3-32 32l0 242.7-73.4-73.4c-12.5-12.5-32.8-12.5-45.3 0s-12.5 32.8 0 45.3l128 128c12.5 12.5 32.8 12.5 45.3 0l128-128c12.5-12.5 12.5-32.8 0-45.3s-32.8-12.5-45.3 0L288 274.7 288 32zM64 352c-35.3 0-64 28.7-64 64l0 32c0 35.3 28.7 64 64 64l384 0c35.3 0 64-28.7 64-64l0-32c0-35.3-28.7-64-64-64l-101.5 0-45.3 45.3c-25 25-65.5 25-90.5 0L165.5 352 64 352zm368 56a24 24 0 1 1 0 48 24 24 0 1 1 0-48z"]};var n3={prefix:"fas",iconName:"outdent",icon:[448,512,["dedent"],"f03b","M0 64C0 46.3 14.3 32 32 32l384 0c17.7 0 32 14.3 32 32s-14.3 32-32 32L32 96C14.3 96 0 81.7 0 64zM192 192c0-17.7 14.3-32 32-32l192 0c17.7 0 32 14.3 32 32s-14.3 32-32 32l-192 0c-17.7 0-32-14.3-32-32zm32 96l192 0c17.7 0 32 14.3 32 32s-14.3 32-32 32l-192 0c-17.7 0-32-14.3-32-32s14.3-32 32-32zM0 448c0-17.7 14.3-32 32-32l384 0c17.7 0 32 14.3 32 32s-14.3 32-32 32L32 480c-17.7 0-32-14.3-32-32zM.2 268.6c-8.2-6.4-8.2-18.9 0-25.3l101.9-79.3c10.5-8.2 25.8-.7 25.8 12.6l0 158.6c0 13.3-15.3 20.8-25.8 12.6L.2 268.6z"]};var d0={prefix:"fas",iconName:"house",icon:[576,512,[127968,63498,63500,"home","home-alt","home-lg-alt"],"f015","M575.8 255.5c0 18-15 32.1-32 32.1l-32 0 .7 160.2c0 2.7-.2 5.4-.5 8.1l0 16.2c0 22.1-17.9 40-40 40l-16 0c-1.1 0-2.2 0-3.3-.1c-1.4 .1-2.8 .1-4.2 .1L416 512l-24 0c-22.1 0-40-17.9-40-40l0-24 0-64c0-17.7-14.3-32-32-32l-64 0c-17.7 0-32 14.3-32 32l0 64 0 24c0 22.1-17.9 40-40 40l-24 0-31.9 0c-1.5 0-3-.1-4.5-.2c-1.2 .1-2.4 .2-3.6 .2l-16 0c-22.1 0-40-17.9-40-40l0-112c0-.9 0-1.9 .1-2.8l0-69.7-32 0c-18 0-32-14-32-32.1c0-9 3-17 10-24L266.4 8c7-7 15-8 22-8s15 2 21 7L564.8 231.5c8 7 12 15 11 24z"]},o3=d0;var i3={prefix:"fas",iconName:"sun",icon:[512,512,[9728],"f185","M361.5 1.2c5 2.1 8.6 6.6 9.6 11.9L391 121l107.9 19.8c5.3 1 9.8 4.6 11.9 9.6s1.5 10.7-1.6 15.2L446.9 256l62.3 90.3c3.1 4.5 3.7 10.2 1.6 15.2s-6.6 8.6-11.9 9.6L391 391 371.1 498.9c-1 5.3-4.6 9.8-9.6 11.9s-10.7 1.5-15.2-1.6L256 446.9l-90.3 62.3c-4.5 3.1-10.2 3.7-15.2 1.6s-8.6-6.6-9.6-11.9L121 391 13.1 371.1c-5.3-1-9.8-4.6-11.9-9.6s-1.5-10.7 1.6-15.2L65.1 256 2.8 165.7c-3.1-4.5-3.7-10.2-1.6-15.2s6.6-8.6 11.9-9.6L121 121 140.9 13.1c1-5.3 4.6-9.8 9.6-11.9s10.7-1.5 15.2 1.6L256 65.1 346.3 2.8c4.5-3.1 10.2-3.7 15.2-1.6zM160 256a96 96 0 1 1 192 0 96 96 0 1 1 -192 0zm224 0a128 128 0 1 0 -256 0 128 128 0 1 0 256 0z"]};var f3={prefix:"fas",iconName:"file",icon:[384,512,[128196,128459,61462],"f15b","M0 64C0 28.7 28.7 0 64 0L224 0l0 128c0 17.7 14.3 32 32 32l128 0 0 288c0 35.3-28.7 64-64 64L64 512c-35.3 0-64-28.7-64-64L0 64zm384 64l-128 0L256 0 384 128z"]};var t3={prefix:"fas",iconName:"magnifying-glass",icon:[512,512,[128269,"search"],"f002","M416 208c0 45.9-14.9 88.3-40 122.7L502.6 457.4c12.5 12.5 12.5 32.8 0 45.3s-32.8 12.5-45.3 0L330.7 376c-34.4 25.2-76.8 40-122.7 40C93.1 416 0 322.9 0 208S93.1 0 208 0S416 93.1 416 208zM208 352a144 144 0 1 0 0-288 144 144 0 1 0 0 288z"]};var r3={prefix:"fas",iconName:"chevron-down",icon:[512,512,[],"f078","M233.4 406.6c12.5 12.5 32.8 12.5 45.3 0l192-192c12.5-12.5 12.5-32.8 0-45.3s-32.8-12.5-45.3 0L256 338.7 86.6 169.4c-12.5-12.5-32.8-12.5-45.3 0s-12.5 32.8 0 45.3l192 192z"]};var z3={prefix:"fas",iconName:"arrow-up",icon:[384,512,[8593],"f062","M214.6 41.4c-12.5-12.5-32.8-12.5-45.3 0l-160 160c-12.5 12.5-12.5 32.8 0 45.3s32.8 12.5 45.3 0L160 141.2 160 448c0 17.7 14.3 32 32 32s32-14.3 32-32l0-306.7L329.4 246.6c12.5 12.5 32.8 12.5 45.3 0s12.5-32.8 0-45.3l-160-160z"]};var m3={prefix:"fas",iconName:"circle-half-stroke",icon:[512,512,[9680,"adjust"],"f042","M448 256c0-106-86-192-192-192l0 384c106 0 192-86 192-192zM0 256a256 256 0 1 1 512 0A256 256 0 1 1 0 256z"]};var L3={prefix:"fas",iconName:"expand",icon:[448,512,[],"f065","M32 32C14.3 32 0 46.3 0 64l0 96c0 17.7 14.3 32 32 32s32-14.3 32-32l0-64 64 0c17.7 0 32-14.3 32-32s-14.3-32-32-32L32 32zM64 352c0-17.7-14.3-32-32-32s-32 14.3-32 32l0 96c0 17.7 14.3 32 32 32l96 0c17.7 0 32-14.3 32-32s-14.3-32-32-32l-64 0 0-64zM320 32c-17.7 0-32 14.3-32 32s14.3 32 32 32l64 0 0 64c0 17.7 14.3 32 32 32s32-14.3 32-32l0-96c0-17.7-14.3-32-32-32l-96 0zM448 352c0-17.7-14.3-32-32-32s-32 14.3-32 32l0 64-64 0c-17.7 0-32 14.3-32 32s14.3 32 32 32l96 0c17.7 0 32-14.3 32-32l0-96z"]};var M3={prefix:"fas",iconName:"rocket",icon:[512,512,[],"f135","M156.6 384.9L125.7 354c-8.5-8.5-11.5-20.8-7.7-32.2c3-8.9 7-20.5 11.8-33.8L24 288c-8.6 0-16.6-4.6-20.9-12.1s-4.2-16.7 .2-24.1l52.5-88.5c13-21.9 36.5-35.3 61.9-35.3l82.3 0c2.4-4 4.8-7.7 7.2-11.3C289.1-4.1 411.1-8.1 483.9 5.3c11.6 2.1 20.6 11.2 22.8 22.8c13.4 72.9 9.3 194.8-111.4 276.7c-3.5 2.4-7.3 4.8-11.3 7.2l0 82.3c0 25.4-13.4 49-35.3 61.9l-88.5 52.5c-7.4 4.4-16.6 4.5-24.1 .2s-12.1-12.2-12.1-20.9l0-107.2c-14.1 4.9-26.4 8.9-35.7 11.9c-11.2 3.6-23.4 .5-31.8-7.8zM384 168a40 40 0 1 0 0-80 40 40 0 1 0 0 80z"]};var C3={prefix:"fas",iconName:"moon",icon:[384,512,[127769,9214],"f186","M223.5 32C100 32 0 132.3 0 256S100 480 223.5 480c60.6 0 115.5-24.2 155.8-63.4c5-4.9 6.3-12.5 3.1-18.7s-10.1-9.7-17-8.5c-9.8 1.7-19.8 2.6-30.1 2.6c-96.9 0-175.5-78.8-175.5-176c0-65.8 36-123.1 89.3-153.3c6.1-3.5 9.2-10.5 7.7-17.3s-7.3-11.9-14.3-12.5c-6.3-.5-12.6-.8-19-.8z"]};var p3={prefix:"fas",iconName:"angle-left",icon:[320,512,[8249],"f104","M41.4 233.4c-12.5 12.5-12.5 32.8 0 45.3l160 160c12.5 12.5 32.8 12.5 45.3 0s12.5-32.8 0-45.3L109.3 256 246.6 118.6c12.5-12.5 12.5-32.8 0-45.3s-32.8-12.5-45.3 0l-160 160z"]};Y2.autoReplaceSvg=!0;i1.add(p3,a3,z3,$2,r3,m3);i1.add(e3,L3,f3,J2,s3,Q2,o3,c3);i1.add(l3,t3,C3,n3,M3,K2,i3);X2.watch();})();
