import { migrate, newHome, newSecrets, serve, setClock } from '../chaos/service.ts'
import type { Scale } from './compete.ts'
import { beside, type Chapter, format, median } from './print.ts'
import { ACCOUNT, customersOf, fill, MORNING, measure, runOf, sums, type Used } from './run.ts'

/** Measures the run of a large month beside its sums. */
export async function large(folder: string, { mostFacts, rounds }: Scale): Promise<Chapter> {
  const { script, end } = await newHome()
  const service = await serve({ script, state: folder, secrets: await newSecrets() })
  const used: { sums: Used; run: Used }[] = []
  try {
    await migrate(service)
    await fill(service, ACCOUNT, customersOf(mostFacts))
    await setClock(service, MORNING)
    // The first run is not counted: it stores the statements that the others find.
    await runOf(service, ACCOUNT)
    for (let round = 0; round < rounds; round++) {
      const of = { sums: await measure(service, sums) }
      used.push({ ...of, run: await measure(service, (at) => runOf(at, ACCOUNT)) })
    }
    return chapterOf(mostFacts, used)
  } finally {
    await service.end()
    end()
  }
}

function chapterOf(
  facts: number,
  used: readonly { readonly sums: Used; readonly run: Used }[],
): Chapter {
  const ratio = (figure: keyof Used) =>
    format(median(used.map(({ sums, run }) => run[figure] / sums[figure])), 2)
  const of = (figure: keyof Used) => median(used.map(({ run }) => run[figure]))
  const title = `A run over ${format(facts)} facts`
  return {
    title,
    notes: `The same as above. Medians of ${used.length} rounds, in which the two take turns.`,
    tables: [
      [
        ['', 'CPU ÷ SQL', 'rows read ÷ SQL', 'CPU-ms', 'rows read a fact'],
        [
          ...['a statement run', ratio('cpuMs'), ratio('rowsRead'), format(of('cpuMs'))],
          format(of('rowsRead') / facts, 2),
        ],
      ],
    ],
    figures: beside([
      `CPU of a run over ${format(facts)} facts ÷ its sums in SQL`,
      ratio('cpuMs'),
      '2',
    ]),
  }
}
