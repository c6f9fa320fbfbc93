import type { Page } from '../../pages/base/page.ts'
import { Data, Time } from '../../pages/parts/data.tsx'
import { latestMails } from '../../people/send-notices.ts'
import { isDevelopment } from '../../platform/development.ts'
import { ApiError } from '../../platform/errors.ts'

const LINK = /(https?:\/\/\S+)/

/** Every e-mail as it would be sent, in development alone: its links sign in. */
export const outboxPage: Page = {
  path: '/outbox',
  shows: 'firm',
  async render({ c, now }) {
    if (!isDevelopment(c.env)) throw new ApiError('not_found')
    const mails = await latestMails(c.env, now)
    const body = (
      <>
        {mails.length === 0 && <p>Nothing was caused yet.</p>}
        {mails.map(({ at, to, subject, text }) => (
          <article class="thread">
            <h2>
              <Data text={subject} />
            </h2>
            <p class="note">
              To <Data text={to} />, <Time at={new Date(at).toISOString()} />
            </p>
            {text.split('\n\n').map((part) => (
              <p>
                {part
                  .split(LINK)
                  .map((piece) =>
                    LINK.test(piece) ? <a href={piece}>{piece}</a> : <Data text={piece} />,
                  )}
              </p>
            ))}
          </article>
        ))}
      </>
    )
    return { title: 'Outbox', body }
  },
}
