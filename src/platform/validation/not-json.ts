/**
 * Says that a text is not JSON, and where it stops to be if `error`, that of `JSON.parse`, says so. It quotes nothing of the
 * text, as the message of the error may.
 */
export function notJson(error: unknown): string {
  const [place] = / at position \d+ \(line \d+ column \d+\)$/.exec(String(error)) ?? []
  return `not valid JSON${place ?? ''}.`
}
