import { CsvFault } from '../../platform/money/csv.ts'
import { FileFailure, isZip, readBytes, unzip } from '../../platform/unzip.ts'
import { PAYOUT_LIMITS } from '../model.ts'
import { readCamt } from './camt.ts'
import { type CsvHints, readAnswerCsv } from './csv.ts'
import { readPain002 } from './pain002.ts'
import { type EachRow, refused } from './row.ts'
import { readXml } from './xml.ts'

// Which kind of file an answer is, by its content.

/** The formats of XML, by the name of their first element below `Document`. */
const XML = new Map([
  ['BkToCstmrAcctRpt', { format: 'camt.052', read: readCamt }],
  ['BkToCstmrStmt', { format: 'camt.053', read: readCamt }],
  ['BkToCstmrDbtCdtNtfctn', { format: 'camt.054', read: readCamt }],
  ['CstmrPmtStsRpt', { format: 'pain.002', read: readPain002 }],
])

/** Says which files are read, to a person who has sent another one. */
const KNOWN =
  'Read are camt.052, camt.053, camt.054 and pain.002, also in a ZIP file, and CSV with a line of headings for booking day, amount, currency and reference, as banks, Wise, Revolut, Mercury and PayPal write it.'

/**
 * Reads an answer of a bank. Returns its format.
 *
 * @throws ApiError `validation_failed` for any other kind of file.
 */
export async function readFile(
  bytes: Uint8Array<ArrayBuffer>,
  each: EachRow,
  hints: CsvHints = {},
): Promise<string> {
  if (isZip(bytes)) return readZip(bytes, each)
  const text = textOf(bytes)
  const format = isXml(text) ? formatOfXml(text, each) : formatOfCsv(text, each, hints)
  if (format !== null) return format
  throw refused(`This file is not known. ${KNOWN}`)
}

/** The most files of an archive. */
const MAX_FILES = 1000

const isXml = (text: string) => /^\s*</.test(text)

/** Reads each XML of an archive, which together are as large as one file may be. */
async function readZip(bytes: Uint8Array<ArrayBuffer>, each: EachRow): Promise<string> {
  try {
    let format: string | null = null
    let left = PAYOUT_LIMITS.answerBytes
    const files = unzip(bytes)
    if (files.length > MAX_FILES) throw new FileFailure()
    for (const open of files) {
      const content = await readBytes(open(), left)
      left -= content.byteLength
      const text = textOf(content)
      if (isXml(text)) format = formatOfXml(text, each) ?? format
    }
    if (format === null)
      throw refused(
        `The ZIP file has no XML of a statement or a report: save an Excel file as CSV. ${KNOWN}`,
      )
    return format
  } catch (error) {
    if (error instanceof FileFailure)
      throw refused(`The ZIP file has more than 10 MiB or ${MAX_FILES} files.`)
    if (error instanceof RangeError || error instanceof TypeError) {
      throw refused('The ZIP file cannot be read: it is cut off, or has a password. Unpack it.')
    }
    throw error
  }
}

/** Decodes a file: banks write UTF-8, UTF-16 or Windows-1252, which contains ISO-8859-1. */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  const isWide = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0)
  if (isWide) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe || first === 0) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function formatOfCsv(text: string, each: EachRow, hints: CsvHints): string | null {
  try {
    return readAnswerCsv(text, each, hints) ? 'CSV' : null
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error
    throw refused(`The file is not valid CSV: line ${error.line} has ${error.reason}.`)
  }
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
