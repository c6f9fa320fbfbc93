import { updateAccount } from '../platform/directory/accounts.ts'
import { withAudit } from '../platform/directory/audit.ts'
import type { Call } from '../platform/http/operation.ts'

/** Changes what live tokens of an account have to know, if it still is as it was read, with an entry in the audit log. */
export const changeSettings = (
  { env, actor, account }: Call,
  action: string,
  details: Record<string, unknown>,
  statements: readonly D1PreparedStatement[],
): Promise<unknown> =>
  withAudit(env.DB, { actor, action, account: account.id, details }, [
    ...updateAccount(env.DB, account, {}),
    ...statements,
  ])
