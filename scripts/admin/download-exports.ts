import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchPages } from './client.ts'
import type { Operation } from './operation.ts'

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
 * Downloads the files of an export into a folder. A file that the folder has with the right digest is not
 * downloaded again; one that arrives with another digest is not kept.
 *
 * @throws Error for a file with another digest than the list says.
 */
export const downloadExports: NonNullable<Operation['follow']> = async (
  send,
  request,
  { options },
  { print },
) => {
  const [folder = '.'] = options.to ?? []
  const { to: _, ...query } = request.query
  const { data } = await fetchPages(send, { ...request, query }, Number.POSITIVE_INFINITY)
  for (const file of data as ExportFile[]) {
    const path = join(folder, pathOf(file))
    if (existsSync(path) && digestOf(readFileSync(path)) === file.sha256) {
      print(`${path}: unchanged`)
      continue
    }
    const address = `${request.path}/${encodeURIComponent(file.id)}`
    const bytes = (await send({
      ...request,
      path: address,
      query: {},
      isBinary: true,
    })) as Uint8Array
    if (digestOf(bytes) !== file.sha256) {
      throw new Error(
        `${file.id} arrived with another SHA-256 than the list says. Repeat the command.`,
      )
    }
    mkdirSync(join(folder, file.resource), { recursive: true })
    // A file is there as a whole or not at all.
    writeFileSync(`${path}.part`, bytes)
    renameSync(`${path}.part`, path)
    print(`${path}: ${bytes.byteLength} bytes`)
  }
}
