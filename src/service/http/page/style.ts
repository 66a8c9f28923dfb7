import { createHash } from 'node:crypto';

/** The style of every page, which is part of the document. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --quiet: #59636e; --ground: #ffffff; --raised: #f6f8fa; --line: #d1d9e0;
  --link: #0550ae; --button: #0550ae; --button-text: #ffffff; --good: #1a7f37; --bad: #b3261e; --warn: #8a5a00; --calm: #0550ae; --bar: #3b78c2; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --quiet: #a3abb4; --ground: #16181c; --raised: #1e2126; --line: #363b42;
  --link: #82b7ff; --button: #82b7ff; --button-text: #10151c; --good: #6cc283; --bad: #ff9388; --warn: #e3b341; --calm: #82b7ff; --bar: #5a91d6; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--text); background: var(--ground); }
header, main { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; padding-block: .75rem; }
.top { border-bottom: 1px solid var(--line); background: var(--raised); }
.brand { font-weight: 650; color: var(--text); text-decoration: none; }
.who { margin-left: auto; color: var(--quiet); overflow-wrap: anywhere; }
main { padding-block: 1.25rem 4rem; }
h1 { font-size: 1.35rem; margin: .25rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.25rem 0 .5rem; }
a { color: var(--link); }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--ground); padding: .25rem .5rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.quiet, caption, th, dt { color: var(--quiet); }
p { max-width: 48rem; }
button { font: inherit; padding: .35rem .9rem; border-radius: 6px; border: 1px solid var(--button); background: var(--button);
  color: var(--button-text); cursor: pointer; }
button.plain { background: none; color: var(--link); border-color: var(--line); }
input { font: inherit; width: 100%; max-width: 28rem; padding: .4rem .6rem; border-radius: 6px; border: 1px solid var(--quiet);
  background: var(--ground); color: var(--text); }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
form.stack button { margin-top: .75rem; }
.note { border-left: 3px solid var(--warn); background: var(--raised); padding: .6rem .9rem; margin: 0 0 1rem; max-width: none; overflow-wrap: anywhere; }
.note.bad { border-color: var(--bad); }
dl { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; margin: 0 0 1rem; }
dl div { min-width: 6rem; }
dt { font-size: .85rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.figures dd { font-size: 1.35rem; font-weight: 600; line-height: 1.3; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 500; font-size: .85rem; white-space: nowrap; }
tbody th { color: var(--text); font-size: inherit; white-space: normal; }
.name { min-width: 8rem; max-width: 20rem; overflow-wrap: anywhere; }
.words { min-width: 14rem; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
.time { white-space: nowrap; }
.state { white-space: nowrap; }
.state::before { content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .45em; border-radius: 50%; background: var(--quiet); }
.state.good::before { background: var(--good); }
.state.bad::before { background: var(--bad); border-radius: 1px; }
.state.warn::before { background: var(--warn); transform: rotate(45deg) scale(.9); border-radius: 1px; }
.state.calm::before { background: none; box-shadow: inset 0 0 0 .17em var(--calm); }
.reason { display: block; color: var(--quiet); font-size: .9rem; }
nav.pages { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin-top: 1rem; }
pre, .log { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; }
pre { margin: 0; padding: .75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, "SF Mono", Consolas, monospace; }
.log { max-height: 75vh; overflow: auto; }
.log.ends { display: flex; flex-direction: column-reverse; }
.log pre { border: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.5rem 2.5rem; }
figure { margin: 0; min-width: 0; }
figcaption { margin-bottom: .4rem; }
figure svg { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--quiet); }
figure rect { fill: var(--bar); }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: .85rem; }
details { margin-top: .4rem; }
summary { color: var(--link); cursor: pointer; width: fit-content; }
@media (forced-colors: active) { figure rect { fill: CanvasText; } .state::before { forced-color-adjust: none; } }
@media (max-width: 40rem) { header, main { padding-inline: .9rem; } dl { gap: .6rem 1.5rem; } .who { margin-left: 0; flex-basis: 100%; } }
`;

/** What a content security policy allows this style by (CSP Level 3, section 2.3.1). */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
