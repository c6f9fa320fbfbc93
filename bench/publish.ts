import { mkdirSync, writeFileSync } from 'node:fs'
import { asMarkdown, type Chapter } from './chapter.ts'
import type { Curve } from './growth.ts'
import { machine } from './machine.ts'
import { drawGrowth, drawRatios } from './picture.ts'
import type { PeerRatios } from './report.ts'

const RESULTS = 'bench/results'

/** A section of the bench, and what its pictures show. */
type PublishedChapter = Chapter & {
  peerRatios?: readonly PeerRatios[]
  curves?: readonly Curve[]
}

/** Writes the results of a complete run as tables, and ratios and growth as pictures. */
export function publish(chapters: readonly PublishedChapter[]) {
  const introduction = [
    '# What `npm run bench` measured',
    '![How fast the service is compared with others](ratios.svg)',
    '![How fast inserts are as the number of stored records grows](growth.svg)',
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
  const curves = chapters.flatMap((chapter) => chapter.curves ?? [])
  writeFileSync(`${RESULTS}/growth.svg`, drawGrowth(curves))
  console.log(`Written to ${RESULTS}.`)
}
