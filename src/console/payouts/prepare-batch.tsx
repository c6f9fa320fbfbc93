import { accountPath, type Change, dayBefore, useVisit, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { dayWords, visible } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Field, type Option } from '../../pages/parts/forms.tsx'
import { METHODS, type Method } from '../../payouts/model.ts'
import { previewBatch } from '../../payouts/operations/batches.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

/** Returns the payers from which a batch can pay. */
export async function readPayers({ api, account }: Visit): Promise<Option[]> {
  const { data } = await api.call(PAYER.list, { account })
  return data.map(({ payer, details }) => {
    const { name, iban, currency } = Object(details)
    return [payer, visible([name, iban, currency].filter(Boolean).join(', '))]
  })
}

/** Previews a batch, and leads to its page. */
export const prepareChange: Change = {
  ...calling(previewBatch, 'The batch is prepared. Nothing is paid until it is confirmed.'),
  next: (answer, { account }) =>
    accountPath(account, 'batches', (answer as AnswerOf<typeof previewBatch>).id),
}

/** Renders the form that prepares a batch, by the method of the last one. What it proposes can be changed. */
export function PrepareBatch(
  { payers, method = 'sepa' }: { payers: readonly Option[]; method: Method | undefined },
  { today, refused } = useVisit(),
) {
  const [first] = payers
  const day = dayBefore(today, 0)
  if (!first) {
    return (
      <p class="notice">
        To pay by a file for your bank, <AccountLink at={['payers']} children="add the account" />{' '}
        from which you pay.
      </p>
    )
  }
  const methods = METHODS.map((one) => [one, methodWords(one)] as const)
  return (
    <ChangeForm change="prepare" submit="Prepare a batch">
      <details open={refused?.change === 'prepare'}>
        <summary>
          {methodWords(method)} on {dayWords(day)} from {first[1]}
        </summary>
        <Field change="prepare" name="payer" label="From" options={payers} />
        <Field change="prepare" name="method" label="By" options={methods} value={method} />
        <Field change="prepare" name="execute_on" label="On" type="date" value={day} required />
      </details>
    </ChangeForm>
  )
}
