import { join } from 'node:path'
import { sendLargeResponses } from './contention/answers.ts'
import { sendCrowds } from './contention/crowd.ts'
import { checkNewestWins } from './contention/dated.ts'
import { concurrentDuplicates } from './contention/duplicates.ts'
import { sendMaximalBodies } from './contention/maximal.ts'
import { sendNestedBodies } from './contention/nested.ts'
import {
  type ContentionSize,
  newClientSenders,
  writeOverlappingKeys,
  writeSameKeys,
} from './contention/partner.ts'
import { sendSlowBodies } from './contention/slow.ts'
import { runProgram, type Setting } from './program.ts'
import { migrate, newSecrets, serve } from './service.ts'

// Lets many clients write the same keys at once, with equal Idempotency-Keys and maximal bodies:
// `npm run contention [-- --clients 32 --keys 1000 --maximal 1 --seed N]`.

/** Lets a number of clients write a number of keys at once. */
export async function proveContention(setting: Setting, size: ContentionSize): Promise<void> {
  const service = await serve(setting.script, join(setting.folder, 'contended'), await newSecrets())
  try {
    await migrate(service)
    const asks = await newClientSenders(service, size)
    await writeSameKeys(setting, service, asks, size)
    await writeOverlappingKeys(setting, service, asks, size)
    await checkNewestWins(setting, service, asks, size)
    await concurrentDuplicates(setting, service, { ...size, keys: Math.min(size.keys, 50) })
  } finally {
    await service.end()
  }
}

await runProgram(
  import.meta.url,
  'Sends the same records from many clients at once and checks the result.',
  {
    clients: { help: 'clients at once', value: 32, least: 2, most: 60 },
    keys: { help: 'records per bulk', value: 1000, least: 8, most: 1000 },
    maximal: { help: '0 leaves out the largest bodies', value: 1, least: 0, most: 1 },
  },
  async (setting, { maximal, ...size }) => {
    await proveContention(setting, size)
    if (!maximal) return
    await sendMaximalBodies(setting)
    await sendNestedBodies(setting)
    await sendLargeResponses(setting)
    await sendCrowds(setting)
    await sendSlowBodies(setting)
  },
)
