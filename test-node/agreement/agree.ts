import assert from 'node:assert/strict'
import fc from 'fast-check'
import { disagreement } from './compare.ts'
import { faultsOf, type Target } from './faults.ts'
import type { Service } from './service.ts'

const BULK = 1000

interface Run {
  seed: number
  count: number
  /** Collects the broken rules that no schema can express. */
  used?: Set<string>
}

/** Fails with the first record on which schema and service disagree, shrunk by fast-check. */
export async function assertAgreement(
  service: Service,
  target: Target,
  records: fc.Arbitrary<string>,
  { seed, count, used }: Run,
): Promise<void> {
  // Generates the records in a run of their own, so that any run of this seed generates the same.
  const texts: string[] = []
  const draw = fc.property(records, (text) => void texts.push(text))
  fc.assert(draw, { seed, numRuns: count })
  for (let from = 0; from < count; from += BULK) {
    const bulk = texts.slice(from, from + BULK)
    const faults = await faultsOf(service, target, bulk)
    for (const [i, text] of bulk.entries()) {
      if (disagreement(target.validator, text, faults[i]!, used) === null) continue
      const path = String(from + i)
      const alone = fc.asyncProperty(records, async (record) => {
        const [own] = await faultsOf(service, target, [record])
        assert.equal(disagreement(target.validator, record, own!), null)
      })
      const limits = { interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false }
      const { counterexample } = await fc.check(alone, { seed, path, numRuns: 1, ...limits })
      assert.fail(await describe(service, target, counterexample?.[0] ?? text, { seed, count }))
    }
  }
}

/** Describes a disagreement, with the command that repeats it. */
async function describe(service: Service, target: Target, text: string, { seed, count }: Run) {
  const [faults] = await faultsOf(service, target, [text])
  const { validate } = target.validator
  validate(JSON.parse(text))
  return `${target.file}: ${disagreement(target.validator, text, faults!)}
record: ${text}
service: ${JSON.stringify(faults)}
schema: ${JSON.stringify(validate.errors)}
again: TEST_SEED=${seed} FC_RECORDS=${count} node --test test-node/agreement.test.ts`
}
