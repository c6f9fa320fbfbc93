import { resolveDatabase } from '../platform/db/database.ts'
import { findAccounts, listBindings } from '../platform/directory/accounts.ts'
import { loadWords } from '../platform/documents/texts.ts'
import { readFacts } from './db/facts.ts'
import { latestNotices } from './db/recipients.ts'
import { type Mail, mailOf } from './mail.ts'
import { personsOf } from './send-notices.ts'

/** Returns the latest e-mails as they would be sent now, whether or not they were. For development: their links sign in. */
export async function latestMails(env: Env, now: number): Promise<(Mail & { at: string })[]> {
  await loadWords(env)
  const bindings = await listBindings(env.DB)
  const found = await Promise.all(
    bindings.map(async (binding) => {
      const db = resolveDatabase(env, binding)
      const notices = await latestNotices(db)
      const names = [...new Set(notices.map(({ account }) => account))]
      const accounts = new Map((await findAccounts(env.DB, names)).map((one) => [one.id, one]))
      const all = await readFacts(db, notices, now)
      const mails = notices.map(async (notice, i) => {
        const facts = all[i]
        if (!facts) return []
        const at = new Date(notice.at).toISOString()
        const account = accounts.get(notice.account) ?? null
        const persons = await personsOf(env, db, notice)
        return Promise.all(
          persons.map(async (one) => ({
            ...(await mailOf(env, account, notice, facts, one, now)),
            at,
          })),
        )
      })
      return (await Promise.all(mails)).flat()
    }),
  )
  return found.flat().sort((a, b) => (a.at < b.at ? 1 : -1))
}
