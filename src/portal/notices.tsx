import type { Context } from 'hono'
import { respond } from '../pages/base/respond.ts'
import { addressDigest, readStops, resumeMail, stopMail } from '../people/db/recipients.ts'
import { listOwnNotices } from '../people/operations/notices.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { hasMail } from '../platform/directory/outbox.ts'
import { fill } from '../platform/languages.ts'
import { changesOf, MemberForm } from './form.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, NextPage, Sentence, timeText } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'

const AT = '/notices'

/** Says whether the member gets notices by e-mail, with the button that changes it. */
const ByMail = ({ visit, stop }: { visit: MemberVisit; stop: string | undefined }) => {
  const { words, member } = visit
  if (member.email === null) return <p class="note">{words.notices_no_email}</p>
  const state = stop ? (`notices_${stop as 'off' | 'bounced'}` as const) : 'notices_on'
  return (
    <>
      <p class={stop === 'bounced' ? 'notice warn' : undefined}>
        {fill(words[state], { email: member.email })}
      </p>
      <MemberForm
        at={AT}
        values={{ change: stop ? 'on' : 'off' }}
        submit={stop ? words.notices_switch_on : words.notices_switch_off}
        isPlain
      />
    </>
  )
}

/** Responds with what the affiliate was told, the latest first, and with how the member is told. */
export async function showNotices(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { account, words, member } = visit
  const cursor = c.req.query('cursor')
  const digest = await addressDigest(member.email ?? '')
  const [{ data, meta }, stops] = await Promise.all([
    visit.call(listOwnNotices, { per_page: 20, ...(cursor && { cursor }) }),
    readStops(c.env.DB, account.id, [digest]),
  ])
  return respond(
    c,
    <MemberPage visit={visit} here="notices" title={words.notices}>
      {hasMail(c.env) && <ByMail visit={visit} stop={stops.get(digest)} />}
      {data.length === 0 && <p>{words.notices_none}</p>}
      <ol class="messages">
        {data.map(({ title, paragraphs, at }) => (
          <li>
            <p class="note">{timeText(at, visit)}</p>
            <h2>
              <Sentence text={title} />
            </h2>
            {paragraphs.map((text) => (
              <p>
                <Sentence text={text} />
              </p>
            ))}
          </li>
        ))}
      </ol>
      <NextPage at={AT} cursor={meta.next_cursor} />
    </MemberPage>,
  )
}

/** Switches the e-mails of the member on or off. */
export const changeNotices = changesOf({
  async make({ account, member, page }, values) {
    const { DB } = page.env
    const address = await addressDigest(member.email ?? '')
    if (values('change') === 'on') await resumeMail(DB, account.id, address)
    else await stopMail(DB, { account: account.id, address, reason: 'off' })
    return portalPath(account.id, AT)
  },
  problemOf(_visit, error) {
    throw error
  },
  show: showNotices,
})
