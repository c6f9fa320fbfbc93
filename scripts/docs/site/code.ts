import { createRequire } from 'node:module'
import { escaped, type Html, html, raw } from './html.ts'

// highlight.js emits class names only. Shiki emits inline styles, which the Content-Security-Policy
// of the pages forbids.

/** The part of highlight.js that is used. Its own types add the DOM to every file of the project. */
interface Highlighter {
  registerLanguage: (name: string, definition: unknown) => void
  registerAliases: (alias: string, options: { languageName: string }) => void
  getLanguage: (name: string) => unknown
  highlight: (code: string, options: { language: string }) => { value: string }
}

const require = createRequire(import.meta.url)
const hljs: Highlighter = require('highlight.js/lib/core')

for (const name of ['bash', 'http', 'json', 'php', 'python', 'typescript']) {
  hljs.registerLanguage(name, require(`highlight.js/lib/languages/${name}`))
}
hljs.registerAliases('sh', { languageName: 'bash' })

/** Returns JSON with line breaks. Text that is not valid JSON, such as an excerpt, stays as it is. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Renders a block of highlighted code. The block takes focus, so that the keyboard can scroll it. */
export function codeBlock(text: string, language = ''): Html {
  const source = (language === 'json' ? formatJson(text) : text).trimEnd()
  const markup = hljs.getLanguage(language)
    ? hljs.highlight(source, { language }).value
    : escaped(source)
  // A long address wraps after a slash instead of moving to a line of its own.
  const breakable = markup.replace(/(?<!<)\/(?=[\w{])/g, '/<wbr>')
  return html`<pre class="${language}" tabindex="0"><code>${raw(breakable)}</code></pre>\n`
}

/** Renders a value as a block of JSON. */
export const jsonBlock = (value: unknown): Html => codeBlock(JSON.stringify(value, null, 2), 'json')
