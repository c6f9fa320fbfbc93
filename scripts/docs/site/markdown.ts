import MarkdownIt from 'markdown-it'
import { anchorOfCode, isNoun } from '../explained.ts'
import { codeBlock } from './code.ts'
import { escaped, type Html, raw } from './html.ts'

const md = new MarkdownIt({ html: false })

/** Returns the anchor of a heading, in the form that links of the guide use. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-')

/** Escapes code and allows a line break after each slash, so that long addresses wrap. */
export const breakable = (code: string): Html =>
  raw(escaped(code).replace(/\/(?=[\w{])/g, '/<wbr>'))

md.renderer.rules.code_inline = (tokens, i) =>
  `<code>${breakable(tokens[i]?.content ?? '').html}</code>`
md.renderer.rules.heading_open = (tokens, i) => {
  const tag = tokens[i]?.tag ?? ''
  const anchor = anchorOf(tokens[i + 1]?.content ?? '')
  return tag === 'h1' ? '<h1>' : `<${tag} id="${anchor}"><a href="#${anchor}">`
}
md.renderer.rules.heading_close = (tokens, i) => {
  const tag = tokens[i]?.tag ?? ''
  return tag === 'h1' ? '</h1>\n' : `</a></${tag}>\n`
}
md.renderer.rules.fence = (tokens, i) =>
  codeBlock(tokens[i]?.content ?? '', tokens[i]?.info ?? '').html
// The container of a table takes focus, so that the keyboard can scroll it.
md.renderer.rules.table_open = (tokens, i, options, _, self) =>
  `<div class="wide" role="group" aria-label="Table" tabindex="0">${self.renderToken(tokens, i, options)}`
md.renderer.rules.table_close = () => '</table></div>\n'

// An empty header cell, usually the first of its row, must not be announced as a header.
md.renderer.rules.th_open = (tokens, i) =>
  tokens[i + 1]?.content === '' ? '<td>' : '<th scope="col">'
md.renderer.rules.th_close = (tokens, i) => (tokens[i - 1]?.content === '' ? '</td>' : '</th>')

// A row that explains a code has an anchor, and its cells name their columns: on narrow screens each row
// becomes a block of labelled cells.
md.core.ruler.push('explained', ({ tokens }) => {
  let [table, row] = tokens
  let columns: string[] = []
  let cells = 0
  for (const [i, token] of tokens.entries()) {
    const text = plain(tokens[i + 1]?.content ?? '')
    if (token.type === 'table_open') [table, columns] = [token, []]
    if (token.type === 'tr_open') [row, cells] = [token, 0]
    if (token.type === 'th_open') columns.push(text)
    if (!isNoun(columns[0])) continue
    table?.attrSet('class', 'codes')
    if (token.type === 'td_close' && cells === 1) token.tag = 'th'
    if (token.type !== 'td_open') continue
    token.attrSet('data-of', columns[cells] ?? '')
    cells += 1
    if (cells > 1) continue
    token.tag = 'th'
    token.attrSet('scope', 'row')
    row?.attrSet('id', anchorOfCode(columns[0], text))
  }
})

/** Renders Markdown. */
export const rendered = (markdown: string): Html => raw(md.render(markdown))

/** Renders one paragraph of Markdown without its `<p>` element. */
export const inline = (markdown: string): Html => raw(md.renderInline(markdown))

/** Returns Markdown as plain text, for attributes and for the search index. */
export const plain = (markdown: string) =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
