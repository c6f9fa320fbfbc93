/** Says that a text is not JSON, and the line and the column (from 1) at which `JSON.parse` stops if it names them. */
export function jsonErrorWords(error: unknown): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(String(error)) ?? []
  const place = line ? ` from line ${line}, column ${column} on` : ''
  return `The text is not valid JSON${place}.`
}
