import { expect, test } from 'vitest'
import perLot from '../examples/plans/ib-per-lot.json'
import { findJsonError, jsonErrorWords } from '../src/console/json-error.ts'

// Where a text that somebody typed stops being JSON.

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each([
  [
    '{"a": 1,}',
    'Line 1, column 9: A name in double quotes is expected, but it has “}”. Delete the comma before it.',
  ],
  [
    '[1, 2,\n]',
    'Line 2, column 1: A value is expected, but it has “]”. Delete the comma before it.',
  ],
  ['{"a": 1\r\n "b": 2}', 'Line 2, column 2: “,” or “}” is expected, but it has “"”.'],
  [
    "{'a': 1}",
    'Line 1, column 2: A name in double quotes or “}” is expected, but it has “\'”. Write straight double quotes: ".',
  ],
  ['{"a" 1}', 'Line 1, column 6: “:” after the name is expected, but it has “1”.'],
  ['{"a": yes}', 'Line 1, column 7: A value is expected, but it has “yes”.'],
  ['{"a": 1', 'Line 1, column 8: “,” or “}” is expected, but the text ends.'],
  ['{} x', 'Line 1, column 4: Nothing more is expected, but it has “x”.'],
  [
    '{"a": 1, // note\n"b": 2}',
    'Line 1, column 10: A name in double quotes is expected, but it has “/”. JSON has no comments.',
  ],
  [
    '{"a": "x\n}',
    'Line 1, column 7: A value is expected, but it has “"”. End the text with a double quote on the same line, and write a backslash as two.',
  ],
  ['{"a": 012}', 'Line 1, column 7: A value is expected, but it has “012”.'],
  ['', 'Line 1, column 1: A value is expected, but the text ends.'],
])('%j is explained', (text, words) => {
  expect(isJson(text)).toBe(false)
  expect(jsonErrorWords(text)).toBe(words)
})

test('it finds an error exactly where JSON.parse refuses a text', () => {
  const valid = [
    JSON.stringify(perLot),
    '[true,null,-0.5e+3,"\\u00e4\\n\u0085",{},[],1E9]',
    '"\ud800"',
    ' 0 ',
  ]
  for (const text of valid) expect(findJsonError(text)).toBeNull()
  // A fixed sequence of changes: one character is deleted, doubled or replaced.
  let seed = 7
  const below = (max: number) => {
    seed = (seed * 48271) % 2147483647
    return seed % max
  }
  const characters = '{}[]",:0-1.eEtrunfalsN\\\'\t \n\u0001'
  let refused = 0
  for (let i = 0; i < 4000; i++) {
    const text = valid[below(2)] ?? ''
    const at = below(text.length)
    const other = characters[below(characters.length)] ?? ''
    const insert = [other, '', (text[at] ?? '') + other][below(3)] ?? ''
    const changed = text.slice(0, at) + insert + text.slice(at + 1)
    const isRefused = !isJson(changed)
    if (isRefused) refused += 1
    expect([changed, findJsonError(changed) !== null]).toEqual([changed, isRefused])
  }
  expect(refused).toBeGreaterThan(1000)
})
