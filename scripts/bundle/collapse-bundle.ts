import { parse, type Token } from 'acorn'
import { collapseSql } from './collapse-sql.ts'

/** A span of a text: the offsets of its start and of its end. */
type Span = readonly [start: number, end: number]

/**
 * Returns, for each template literal in the modules of `folder`, the spans of its text: its parts before,
 * between and after the expressions.
 */
function findTemplates(code: string, folder: string): Span[][] {
  let isInFolder = false
  const found: Span[][] = []
  /** The literals that have begun and not ended. An expression in one may contain another. */
  const open: Span[][] = []
  let previous = ''
  function visit({ type: { label }, start, end }: Token) {
    // Between two backquotes is at least one token of text, empty or not. So a backquote after text ends
    // a literal, and any other begins one.
    if (label === 'template') open.at(-1)?.push([start, end])
    else if (label === '`' && previous !== 'template') open.push([])
    else if (label === '`') {
      const template = open.pop()
      if (isInFolder && template) found.push(template)
    }
    previous = label
  }
  parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    onToken: visit,
    // esbuild writes the path of each module in a comment before it.
    onComment: (_, comment) => {
      const [path] = /(?<=^ )(?:src|node_modules)\/\S+$/.exec(comment) ?? []
      if (path) isInFolder = path.startsWith(folder)
    },
  })
  return found
}

const countLineBreaks = (text: string) => text.split('\n').length - 1

/**
 * Collapses the SQL of a bundle that is not minified: the template literals in the modules of `folder`
 * that have several lines. After each part that loses line breaks, as many line breaks and spaces are
 * put into the code outside of the literal. So all other code keeps its line and column, and the source
 * map remains valid.
 */
export function collapseBundle(code: string, folder: string): string {
  const edits = findTemplates(code, folder).flatMap((spans) => {
    const parts = spans.map(([start, end]) => code.slice(start, end))
    if (!parts.some((part) => part.includes('\n'))) return []
    return collapseSql(parts).map((collapsed, index) => {
      const [start, end] = spans[index]!
      // Where code goes on: after `${`, or after the backquote that ends the literal.
      const next = end + (code.startsWith('${', end) ? 2 : 1)
      const lost = countLineBreaks(parts[index]!) - countLineBreaks(collapsed)
      const column = next - code.lastIndexOf('\n', next - 1) - 1
      const padding = lost > 0 ? '\n'.repeat(lost) + ' '.repeat(column) : ''
      return { start, next, text: collapsed + code.slice(end, next) + padding }
    })
  })
  let end = 0
  let result = ''
  for (const { start, next, text } of edits.sort((a, b) => a.start - b.start)) {
    result += code.slice(end, start) + text
    end = next
  }
  return result + code.slice(end)
}
