import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Ask, answered } from '../ask.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import { migrate, newSecrets, serve } from '../service.ts'
import { limited } from './maximal.ts'

/** Bodies that come at once, each of so many bytes of objects within objects. */
const CROWDS = [
  { bodies: 1, bytes: 8 * 1024 * 1024 },
  { bodies: 16, bytes: 1_048_000 },
  { bodies: 40, bytes: 262_000 },
]

/** The most memory for a byte of JSON: an object whose only member is far from the first index. */
const NEST = `${'{"99":'.repeat(6)}{}${'}'.repeat(6)}`

/** Sends little that becomes much once it is parsed: it is refused, and the isolate lives on. */
export async function nestedBodies({ script, folder, say, hold }: Setting): Promise<void> {
  for (const { bodies, bytes } of CROWDS) {
    const name = `${bodies} of ${bytes} bytes`
    const state = join(folder, `nested-${bodies}`)
    const service = await limited(async () => serve(script, state, await newSecrets()))
    try {
      await migrate(service)
      const ask = asBrand(service, await newBrand(service, 'nested'))
      const text = `[${Array(Math.floor(bytes / (NEST.length + 1))).fill(NEST)}]`
      const sent = Array.from({ length: bodies }, () => post(ask, text))
      for (const status of await Promise.all(sent)) {
        hold(status === 413 || status === 422, `nested, ${name}: one was answered ${status}`)
      }
      await answered(200, ask('GET', 'account'))
      say(`Objects within objects, ${name} at once: all refused, and the isolate lives on.`)
    } catch (error) {
      const { message, cause } = error as Error
      hold(false, `nested, ${name}: ${message}${cause ? ` (${cause})` : ''}`)
    } finally {
      await service.end()
    }
  }
}

async function post(ask: Ask, text: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
  return (await ask('POST', 'activities', { body: new Uint8Array(gzipSync(text)), headers })).status
}
