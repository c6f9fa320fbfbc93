import { gzipSync } from 'node:zlib'
import { until } from '../chaos/ask.ts'
import { cpuOf, start } from '../chaos/workerd.ts'
import { bundleService } from '../scripts/bundle.ts'
import type { Scale } from './compete.ts'
import { beside, type Chapter, format, median } from './print.ts'

const EMPTY = `export default { fetch: () => new Response('') }`

/** Measures the script, and the CPU from the start of workerd to a first answer, beside an empty Worker. */
export async function startUp(folder: string, { rounds }: Scale): Promise<Chapter> {
  const scripts = { 'an empty Worker': EMPTY, Tributary: await bundleService() }
  const used = { 'an empty Worker': [], Tributary: [] } as Record<keyof typeof scripts, number[]>
  for (let round = 0; round < rounds; round++) {
    for (const [name, script] of Object.entries(scripts) as [keyof typeof scripts, string][]) {
      const running = await start(script, `${folder}-${round}-${name.length}`)
      try {
        await until(async () => (await fetch(new URL('/health', running.url))).status > 0)
        used[name].push(cpuOf(running.pids))
      } finally {
        await running.end()
      }
    }
  }
  const kib = (script: string) => format(gzipSync(script).byteLength / 1024)
  return {
    title: 'Start',
    notes: `The script that is uploaded, and the CPU of workerd from its start to a first answer. Medians of ${rounds} rounds, in which the two take turns.`,
    tables: [
      [
        ['', 'KiB gzip', 'CPU-ms to the first answer'],
        ...Object.entries(scripts).map(([name, script]) => [
          ...[name, kib(script), format(median(used[name as keyof typeof scripts]))],
        ]),
      ],
    ],
    figures: beside(
      ['KiB gzip of the script', kib(scripts.Tributary), '400'],
      [
        'CPU-ms to the first answer beyond an empty Worker',
        format(median(used.Tributary) - median(used['an empty Worker'])),
        '80',
      ],
    ),
  }
}
