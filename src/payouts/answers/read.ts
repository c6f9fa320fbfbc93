import { CsvFault } from '../../commission/csv.ts'
import { ApiError } from '../../platform/errors.ts'
import { readCamt } from './camt.ts'
import { readAnswerCsv } from './csv.ts'
import { readPain002 } from './pain002.ts'
import type { EachRow } from './row.ts'
import { type Handlers, parseXml, XmlFault } from './xml.ts'

// Which kind of file an answer is, by its content.

/** The formats of XML, by the name of their first element below `Document`. */
const XML: Readonly<Record<string, readonly [string, (each: EachRow) => Handlers]>> = {
  BkToCstmrStmt: ['camt.053', readCamt],
  BkToCstmrDbtCdtNtfctn: ['camt.054', readCamt],
  CstmrPmtStsRpt: ['pain.002', readPain002],
}

const refused = (detail: string) =>
  new ApiError('validation_failed', { detail: `${detail} Nothing was changed.` })

/** Says which files are read, to a person who has sent another one. */
const UNKNOWN =
  'This file is not known. Every bank has camt.053 or camt.054, and many have pain.002. Also read are CSV-CAMT and the CSV of Wise, Revolut, Mercury and PayPal, and any spreadsheet of payments saved as CSV whose columns are called `paid_on`, `amount`, `currency` and `reference`.'

/** Returns the text of a file: banks that do not write UTF-8 write Windows-1252. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/**
 * Reads an answer of a bank. Returns its format.
 *
 * @throws ApiError `validation_failed` for any other kind of file.
 */
export function readFile(bytes: Uint8Array, each: EachRow): string {
  const text = textOf(bytes)
  try {
    const format = /^\s*</.test(text) ? readXml(text, each) : readAnswerCsv(text, each)
    if (format !== null) return format
  } catch (error) {
    if (error instanceof XmlFault) throw refused(`The XML cannot be read. ${error.message}`)
    if (error instanceof CsvFault) {
      throw refused(`The file is not valid CSV: line ${error.line} has ${error.reason}.`)
    }
    // A regular expression that meets a cell of megabytes.
    if (error instanceof RangeError) throw refused('A cell of the file is too long.')
    throw error
  }
  throw refused(UNKNOWN)
}

function readXml(text: string, each: EachRow): string | null {
  let format: string | null = null
  const handlers: Record<string, Handlers[string]> = {}
  const parser = parseXml(handlers, (name) => {
    const [found, read] = (Object.hasOwn(XML, name) && XML[name]) || []
    if (!read) return
    format = found ?? null
    Object.assign(handlers, read(each))
  })
  parser.write(text.trimStart()).close()
  return format
}
