import { withAudit } from '../platform/directory/audit.ts'
import { bumpVersion } from '../platform/directory/credentials.ts'
import type { Call } from '../platform/http/operation.ts'

/** Changes what live tokens of an account have to know, with an entry in the audit log. */
export const changeSettings = (
  { env, actor, account: { id: account } }: Call,
  action: string,
  details: Record<string, unknown>,
  statements: readonly D1PreparedStatement[],
): Promise<unknown> =>
  withAudit(env.DB, { actor, action, account, details }, [
    ...statements,
    bumpVersion(env.DB, account),
  ])
