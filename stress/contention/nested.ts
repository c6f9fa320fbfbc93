import { join } from 'node:path'
import { expectBody } from '../ask.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import { migrate, serveLimited } from '../service.ts'
import { encodeBody, post } from './maximal.ts'

/** How many bodies are sent at once, and the size of each in bytes. */
const CROWDS = [
  { bodies: 1, bytes: 8 * 1024 * 1024 },
  { bodies: 16, bytes: 1_048_000 },
  { bodies: 40, bytes: 262_000 },
]

/** Costs the most memory per byte of JSON: objects whose only member has a high index. */
const NEST = `${'{"99":'.repeat(6)}{}${'}'.repeat(6)}`

/** Sends small bodies that are large once parsed. They are refused, and the isolate survives. */
export async function sendNestedBodies({ script, folder, print, check }: Setting): Promise<void> {
  for (const { bodies, bytes } of CROWDS) {
    const name = `${bodies} of ${bytes} bytes`
    const state = join(folder, `nested-${bodies}`)
    const service = await serveLimited(script, state)
    try {
      await migrate(service)
      const ask = asBrand(service, await newBrand(service, 'nested'))
      const body = encodeBody(`[${Array(Math.floor(bytes / (NEST.length + 1))).fill(NEST)}]`, true)
      const sent = Array.from({ length: bodies }, () => post(ask, body))
      for (const status of await Promise.all(sent)) {
        check(status === 413 || status === 422, `nested, ${name}: one was answered ${status}`)
      }
      await expectBody(200, ask('GET', 'account'))
      print(`Objects within objects, ${name} at once: all refused, and the isolate survived.`)
    } catch (error) {
      const { message, cause } = error as Error
      check(false, `nested, ${name}: ${message}${cause ? ` (${cause})` : ''}`)
    } finally {
      await service.end()
    }
  }
}
