import { parse, type Token } from 'acorn'
import { collapseSql } from './collapse-sql.ts'

/** A span of a text: the offsets of its start and of its end. */
type Span = readonly [start: number, end: number]

/** Returns the parts of each template literal in the modules of `folder`, between its expressions. */
function findTemplates(code: string, folder: string): Span[][] {
  let isInside = false
  const found: Span[][] = []
  const open: Span[][] = []
  let previous = ''
  function visit({ type: { label }, start, end }: Token) {
    if (label === 'template') open.at(-1)?.push([start, end])
    else if (label === '`' && previous !== 'template') open.push([])
    else if (label === '`') {
      const template = open.pop()
      if (isInside && template) found.push(template)
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
      if (path) isInside = path.startsWith(folder)
    },
  })
  return found
}

const lineBreaks = (text: string) => text.split('\n').length - 1

/**
 * Collapses the SQL of a bundle that is not minified: the template literals of `folder` that have several
 * lines. White space follows each part to make up for its lines and columns, so that all else keeps its
 * place and the source map remains valid.
 */
export function collapseBundle(code: string, folder: string): string {
  const edits = findTemplates(code, folder).flatMap((spans) => {
    const parts = spans.map(([start, end]) => code.slice(start, end))
    if (!parts.some((part) => part.includes('\n'))) return []
    return collapseSql(parts).map((collapsed, index) => {
      const [start, end] = spans[index]!
      const next = end + (code.startsWith('${', end) ? 2 : 1)
      const lost = lineBreaks(parts[index]!) - lineBreaks(collapsed)
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
