import { CsvFault } from '../../commission/csv.ts'
import { readCamt } from './camt.ts'
import { readAnswerCsv } from './csv.ts'
import { readPain002 } from './pain002.ts'
import { type EachRow, refused } from './row.ts'
import { readXml } from './xml.ts'

// Which kind of file an answer is, by its content.

/** The formats of XML, by the name of their first element below `Document`. */
const XML = new Map([
  ['BkToCstmrStmt', { format: 'camt.053', read: readCamt }],
  ['BkToCstmrDbtCdtNtfctn', { format: 'camt.054', read: readCamt }],
  ['CstmrPmtStsRpt', { format: 'pain.002', read: readPain002 }],
])

/** Says which files are read, to a person who has sent another one. */
const UNKNOWN =
  'This file is not known. Every bank has camt.053 or camt.054, and many have pain.002. Also read are CSV-CAMT and the CSV of Wise, Revolut, Mercury and PayPal, and any spreadsheet of payments saved as CSV whose columns are called “Paid on”, “Amount”, “Currency” and “Reference”.'

/**
 * Reads an answer of a bank. Returns its format.
 *
 * @throws ApiError `validation_failed` for any other kind of file.
 */
export function readFile(bytes: Uint8Array, each: EachRow): string {
  const utf8 = new TextDecoder().decode(bytes)
  // Banks that do not write UTF-8 write Windows-1252.
  const text = utf8.includes('\ufffd') ? new TextDecoder('windows-1252').decode(bytes) : utf8
  try {
    const format = /^\s*</.test(text) ? formatOfXml(text, each) : readAnswerCsv(text, each)
    if (format !== null) return format
  } catch (error) {
    if (error instanceof CsvFault) {
      throw refused(`The file is not valid CSV: line ${error.line} has ${error.reason}.`)
    }
    // A regular expression that meets a cell of megabytes.
    if (error instanceof RangeError) throw refused('A cell of the file is too long.')
    throw error
  }
  throw refused(UNKNOWN)
}

function formatOfXml(text: string, each: EachRow): string | null {
  let format: string | null = null
  readXml(text, (name) => {
    const kind = XML.get(name)
    format = kind?.format ?? format
    return kind?.read(each)
  })
  return format
}
