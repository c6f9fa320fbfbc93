import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fetchPages } from './client.ts'
import type { Operation } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** A file of an export, as far as it is downloaded. */
interface ExportFile {
  id: string
  resource: string
  month: string | null
  part: number
  sha256: string
}

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Returns the path of a file below the folder: `transactions/2026-10-1.parquet`. */
const pathOf = ({ resource, month, part }: ExportFile) =>
  join(resource, `${month ?? 'all'}-${part}.parquet`)

/**
 * Claims a folder for an account. Returns whether it was claimed before.
 *
 * @throws Error if it has the files of another account: queries would add up both.
 */
function claimFolder(folder: string, account: string): boolean {
  const note = join(folder, 'account.txt')
  const owner = existsSync(note) ? readFileSync(note, 'utf8').trim() : null
  if (owner !== null && owner !== account) {
    throw new Error(`${folder} has the files of ${owner}. Choose another folder.`)
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(note, `${account}\n`)
  return owner !== null
}

/** Returns the files that earlier downloads have left in a folder, of one resource or month if these are given. */
function downloadedFiles(folder: string, resource?: string, month?: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => {
    const [, kind, time] = /^([a-z-]+)[\\/](all|\d{4}-\d\d)-\d+\.parquet$/.exec(path) ?? []
    return (
      kind !== undefined && kind === (resource ?? kind) && (month === undefined || time === month)
    )
  })
}

/** Downloads one file. One that arrives with another digest is not kept. */
async function downloadFile(
  send: SendRequest,
  request: AdminRequest,
  file: ExportFile,
  path: string,
): Promise<number> {
  const address = `${request.path}/${encodeURIComponent(file.id)}`
  const wanted = { ...request, path: address, query: {}, isBinary: true }
  const bytes = (await send(wanted)) as Uint8Array
  if (digestOf(bytes) !== file.sha256) {
    throw new Error(
      `${file.id} arrived with another SHA-256 than the list says. Repeat the command.`,
    )
  }
  mkdirSync(dirname(path), { recursive: true })
  // A file is there as a whole or not at all.
  writeFileSync(`${path}.part`, bytes)
  renameSync(`${path}.part`, path)
  return bytes.byteLength
}

/**
 * Downloads the files of an export into a folder. A file that the folder has with the right digest is not
 * downloaded again. Files of an earlier download that the export does not have any more are deleted: queries read
 * all files of the folder.
 *
 * @throws Error for a file with another digest than the list says, and for a folder of another account.
 */
export const downloadExports: NonNullable<Operation['follow']> = async (
  send,
  request,
  { options },
  print,
) => {
  const [folder = '.'] = options.to ?? []
  const { to: _, ...query } = request.query
  const { data } = await fetchPages(send, { ...request, query }, Number.POSITIVE_INFINITY)
  const files = data as ExportFile[]
  const [, account = ''] = request.path.split('/').map(decodeURIComponent)
  const wasClaimed = claimFolder(folder, account)
  for (const file of files) {
    const path = join(folder, pathOf(file))
    const isThere = existsSync(path) && digestOf(readFileSync(path)) === file.sha256
    print(
      isThere
        ? `${path}: unchanged`
        : `${path}: ${await downloadFile(send, request, file, path)} bytes`,
    )
  }
  if (!wasClaimed) return
  const known = new Set(files.map(pathOf))
  for (const path of downloadedFiles(folder, options.resource?.[0], options.month?.[0])) {
    if (known.has(path)) continue
    rmSync(join(folder, path))
    print(`${join(folder, path)}: deleted, because the export does not have it any more`)
  }
}
