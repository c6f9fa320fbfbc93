/** A word, a number or another value that is neither text nor a container. */
const SCALAR = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])/y

/** What to send instead of what other languages write. */
const SLIPS: readonly (readonly [slip: RegExp, instruction: string])[] = [
  [/^'/, 'Put names and texts in double quotes.'],
  [/^(?:NaN|Infinity|undefined)\b/, 'JSON has no such value: leave the member out.'],
  [/^None\b/, 'Write `null`.'],
  [/^(?:True|False)\b/, 'Write `true` and `false` in small letters.'],
]

/**
 * Says that a text is not JSON, where it stops to be, and what to send instead. It quotes nothing of the text. `error` is
 * that of `JSON.parse`, whose message has the position of some faults only.
 */
export function notJson(text: string, error: unknown): string {
  const [, found] = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(String(error)) ?? []
  const at = found === undefined ? unexpectedAt(text) : Number(found)
  const lines = text.slice(0, at).split('\n')
  const place = `at position ${at} (line ${lines.length} column ${(lines.at(-1) ?? '').length + 1})`
  return [`not valid JSON ${place}.`, ...instructionsAt(text, at)].join(' ')
}

function instructionsAt(text: string, at: number): string[] {
  const rest = text.slice(at, at + 20)
  const isAfterComma = /^[\]}]/.test(rest) && text.slice(0, at).trimEnd().endsWith(',')
  if (isAfterComma) return ['Leave out the comma before it.']
  return SLIPS.filter(([slip]) => slip.test(rest)).map(([, instruction]) => instruction)
}

/** Returns where a value is due and does not follow; what follows a value has a position in the message of `JSON.parse`. */
function unexpectedAt(text: string): number {
  let [isValueDue, isAfterOpening] = [true, false]
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (' \t\n\r'.includes(char)) continue
    const isOpening = char === '[' || char === '{'
    if (',:]}'.includes(char)) {
      const isEmpty = isAfterOpening && (char === ']' || char === '}')
      if (isValueDue && !isEmpty) return at
      isValueDue = char === ',' || char === ':'
    } else {
      isValueDue = isOpening
      const end = isOpening ? at + 1 : endOfValue(text, at)
      if (end === at) return at
      at = end - 1
    }
    isAfterOpening = isOpening
  }
  return text.length
}

/** Returns the position behind a text or a scalar; the beginning if it is neither. */
function endOfValue(text: string, from: number): number {
  if (text[from] === '"') {
    let at = from + 1
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    return at + 1
  }
  SCALAR.lastIndex = from
  return from + (SCALAR.exec(text)?.[0].length ?? 0)
}
