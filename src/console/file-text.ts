import { isZip, readBytes, unzip } from '../commission/rates/unzip.ts'

// The text of files that members upload.

/** The text of a file, or why it has none. */
export type FileText =
  | {
      readonly text: string
      /** Whether the file does not say how its letters are encoded: Windows-1252 was assumed. */
      readonly isAssumed: boolean
    }
  | { readonly problem: string }

/** The largest file of an archive, in bytes. */
const MAX_UNPACKED_BYTES = 6_291_456

const WORKBOOK =
  'This file is a workbook. Save the workbook as CSV: in Excel choose “File”, “Save As” and “CSV UTF-8”. Then choose the new file here.'

const NO_TEXT = 'This file is not a text. Save it as CSV, and choose the new file here.'

const NO_ARCHIVE = 'The archive cannot be read. Unpack it, and send the file in it.'

/** The first bytes of workbooks of Excel until 2003, and of later ones with a password. */
const OLD_WORKBOOK = [0xd0, 0xcf, 0x11, 0xe0]

/** Names of files in the archives that are workbooks of Excel, LibreOffice and Numbers. */
const IN_WORKBOOKS = /xl\/workbook\.|opendocument\.spreadsheet|Index\/(?:Document|Tables\/)/

/** Returns whether bytes are a workbook of a spreadsheet. */
function isWorkbook(bytes: Uint8Array): boolean {
  if (OLD_WORKBOOK.every((one, i) => bytes[i] === one)) return true
  // Names in archives are not compressed.
  return isZip(bytes) && IN_WORKBOOKS.test(new TextDecoder('latin1').decode(bytes))
}

/** Returns the encoding of bytes that begin with a byte order mark, or have zeros as UTF-16 has them. */
function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (bytes.byteLength % 2 !== 0 || first === undefined) return null
  if (first !== 0 && second === 0) return 'utf-16le'
  return first === 0 && second !== 0 ? 'utf-16be' : null
}

/** Decodes UTF-8 and UTF-16. What is neither is read as Windows-1252, which older spreadsheets write. */
function decode(bytes: Uint8Array): FileText {
  const utf16 = utf16Of(bytes)
  if (utf16) return { text: new TextDecoder(utf16).decode(bytes), isAssumed: false }
  if (bytes.includes(0)) return { problem: NO_TEXT }
  try {
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes),
      isAssumed: false,
    }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), isAssumed: true }
  }
}

/** Reads the text of a file, or of the only file of a ZIP archive. */
export async function readFileText(bytes: Uint8Array<ArrayBuffer>): Promise<FileText> {
  if (isWorkbook(bytes)) return { problem: WORKBOOK }
  if (!isZip(bytes)) return decode(bytes)
  try {
    return decode(await readBytes(unzip(bytes), MAX_UNPACKED_BYTES))
  } catch {
    return { problem: NO_ARCHIVE }
  }
}
