import { CsvFault } from '../../commission/csv.ts'
import { ApiError } from '../../platform/errors.ts'
import { readCamt } from './camt.ts'
import { type Chosen, readAnswerCsv } from './csv.ts'
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

/** The bytes that name the kind of a file and its encoding. */
const HEAD_BYTES = 1024

/** How much of XML is parsed at once, in bytes. */
const PIECE_BYTES = 65_536

/** Returns the encoding of a text: that of its byte order mark, of its XML declaration, or UTF-8 if it is valid. */
function encodingOf(bytes: Uint8Array, head: string): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const [, declared] = /^<\?xml[^>]*\bencoding=["']([\w.:-]+)/.exec(head) ?? []
  if (declared) return declared
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

/**
 * Reads an answer of a bank. Returns its format; the headings of a CSV whose columns are not known.
 *
 * @throws ApiError `validation_failed` for any other kind of file.
 */
export function readAnswer(bytes: Uint8Array, chosen: Chosen, each: EachRow) {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES))
  const encoding = encodingOf(bytes, start.replace(/^ï»¿/, ''))
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: false })
  } catch {
    throw refused(`The encoding ${encoding} of the file is not known.`)
  }
  const head = new TextDecoder(encoding).decode(bytes.subarray(0, HEAD_BYTES)).trimStart()
  if (head === '') throw refused('The file is empty.')
  if (head.includes('\0') || head.startsWith('%PDF') || head.startsWith('PK')) {
    throw refused(
      'This file is no text: a workbook, a PDF or an archive. Download the answer as camt.053, camt.054, pain.002 or CSV.',
    )
  }
  try {
    return head.startsWith('<')
      ? readXml(bytes, decoder, each)
      : readAnswerCsv(decoder.decode(bytes), chosen, each)
  } catch (error) {
    if (error instanceof XmlFault) throw refused(`The XML cannot be read. ${error.message}`)
    if (error instanceof CsvFault) {
      throw refused(`The file is not valid CSV: line ${error.line} has ${error.reason}.`)
    }
    if (error instanceof TypeError) throw refused(`The file is not valid ${encoding}.`)
    throw error
  }
}

function readXml(bytes: Uint8Array, decoder: TextDecoder, each: EachRow): string {
  let format: string | null = null
  const handlers: Record<string, Handlers[string]> = {}
  const parser = parseXml(handlers, (name) => {
    const [found, read] = (Object.hasOwn(XML, name) && XML[name]) || []
    if (!read) return
    format = found ?? null
    Object.assign(handlers, read(each))
  })
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    parser.write(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }))
  }
  parser.write(decoder.decode()).close()
  if (format) return format
  throw refused('This XML is no answer of a bank: it is neither camt.053, camt.054 nor pain.002.')
}
