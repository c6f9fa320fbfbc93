import { migrate, newHome, newSecrets, serve, setClock } from '../chaos/service.ts'
import type { Scale } from './compete.ts'
import { beside, type Chapter, format, median } from './print.ts'
import * as month from './run.ts'

/** Measures the run of a large month beside its sums. */
export async function large(folder: string, { mostFacts, rounds }: Scale): Promise<Chapter> {
  const { script, end } = await newHome()
  const serving = { script, state: folder, secrets: await newSecrets() }
  let service = await serve(serving)
  const used: { sums: month.Used; run: month.Used }[] = []
  try {
    await migrate(service)
    await month.fill(service, month.ACCOUNT, month.customersOf(mostFacts))
    await setClock(service, month.MORNING)
    // The first run is not counted: it stores the statements that the others find.
    await month.runOf(service, month.ACCOUNT)
    for (let round = 0; round < rounds; round++) {
      const of = { sums: await month.measure(service, month.sums) }
      used.push({
        ...of,
        run: await month.measure(service, (at) => month.runOf(at, month.ACCOUNT)),
      })
    }
    await service.end()
    service = await serve({ ...serving, isLimited: true })
    return chapterOf(mostFacts, used, await month.memoryOfRun(service))
  } finally {
    await service.end()
    end()
  }
}

function chapterOf(
  facts: number,
  used: readonly { readonly sums: month.Used; readonly run: month.Used }[],
  memory: number,
): Chapter {
  const ratio = (figure: keyof month.Used) =>
    format(median(used.map(({ sums, run }) => run[figure] / sums[figure])), 2)
  const of = (figure: keyof month.Used) => median(used.map(({ run }) => run[figure]))
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
    figures: beside(
      [`CPU of a run over ${format(facts)} facts ÷ its sums in SQL`, ratio('cpuMs'), '2'],
      [`MiB of a run over ${format(facts)} facts, with the database`, format(memory), '64'],
    ),
  }
}
