import { CLOSED, DEMO_PERIOD } from './records.ts'

/** Calls `/admin/v1`. A 409 is an answer as well. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

interface List {
  data: { id: string; affiliate_id: string; status: string }[]
}

/**
 * Approves the statements of a demo account and pays one of them, so that the demo has statements of
 * every status. Does nothing once that statement is no longer a draft.
 */
export async function closeBooks(call: Call): Promise<void> {
  const { account, paid, reference, paid_on } = CLOSED
  const at = `accounts/${account}`
  const { data } = await call<List>('GET', `${at}/statements?period=${DEMO_PERIOD}`)
  const statement = data.find(({ affiliate_id }) => affiliate_id === paid)
  if (statement?.status !== 'draft') return
  await call('POST', `${at}/periods/${DEMO_PERIOD}/approve`, {})
  await call('POST', `${at}/statements/${statement.id}/pay`, { reference, paid_on })
}
