import { mkdirSync, writeFileSync } from 'node:fs'
import { asMarkdown, type Chapter } from './chapter.ts'
import { machine } from './machine.ts'
import { drawRatios } from './picture.ts'
import type { PeerRatios } from './report.ts'

const RESULTS = 'bench/results'

/** Writes the results of a complete run as tables, and the ratios as a picture. */
export function publish(chapters: readonly (Chapter & { peerRatios?: readonly PeerRatios[] })[]) {
  const introduction = [
    '# What `npm run bench` measured',
    '![How fast the service is compared with others](ratios.svg)',
    machine(),
    'Written by `npm run bench`. Figures of two machines cannot be compared, ratios of one run can.',
  ]
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(
    `${RESULTS}/results.md`,
    `${[...introduction, ...chapters.map(asMarkdown)].join('\n\n')}\n`,
  )
  const peerRatios = chapters.flatMap((chapter) => chapter.peerRatios ?? [])
  writeFileSync(`${RESULTS}/ratios.svg`, drawRatios(peerRatios))
  console.log(`Written to ${RESULTS}.`)
}
