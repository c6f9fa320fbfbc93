import type { Child } from 'hono/jsx'
import { localeOf } from '../commission/words/words.ts'
import { visible } from '../pages/parts/data.tsx'
import { type Place, PortalPage, portalPath } from './layout.tsx'
import { type MemberVisit, MemberVisitContext, useMemberVisit } from './visit.ts'
import { fill } from './words.ts'

/** Writes an instant (RFC 3339) in the zone of the account, with its name. */
export const timeText = (instant: string, { language, zone }: MemberVisit): string =>
  `${new Intl.DateTimeFormat(localeOf(language), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: zone,
  }).format(new Date(instant))} (${zone})`

/** Returns the id of a rule as people read it: `cpa tier 1` for `cpa_tier_1`. */
export const titleText = (id: string): string => id.replaceAll('_', ' ').trim() || id

/** Renders a page of a member who is signed in. */
export const MemberPage = (props: {
  visit: MemberVisit
  here: Place
  title: string
  /** What the last change has done. */
  done?: string | false | undefined
  children?: Child
}) => {
  const { account, language, member, csrf, hasMoved, words } = props.visit
  const affiliate = member.display_name ?? member.affiliate_id
  return (
    <MemberVisitContext.Provider value={props.visit}>
      <PortalPage
        language={language}
        account={account}
        title={props.title}
        signedIn={{
          name: member.name,
          affiliate,
          csrf,
          here: props.here,
          news: {
            ...(member.new_answers > 0 && {
              questions: fill(words.new_answers, { count: String(member.new_answers) }),
            }),
            ...(hasMoved && { payments: words.new_state }),
            [props.here]: undefined,
          },
        }}
      >
        {props.done && (
          <p class="notice good" role="status">
            {props.done}
          </p>
        )}
        {props.children}
      </PortalPage>
    </MemberVisitContext.Provider>
  )
}

/**
 * Renders the link to the next page of a list; nothing on the last one. `at` is the path below that of the
 * account, and `query` what else the address has.
 */
export const NextPage = (
  {
    at,
    cursor,
    query,
  }: { at: string; cursor: string | null; query?: Readonly<Record<string, string>> },
  visit = useMemberVisit(),
) =>
  cursor === null ? null : (
    <p>
      <a href={`${portalPath(visit.account.id, at)}?${new URLSearchParams({ ...query, cursor })}`}>
        {visit.words.more}
      </a>
    </p>
  )

const SPACES: readonly (readonly [name: string, space: string])[] = [
  ['‹U+00A0›', '\u00a0'],
  ['‹U+202F›', '\u202f'],
]

/**
 * Renders a sentence, which may quote data. Its invisible characters are shown by their names, but for the spaces
 * with which a language keeps a number and its unit on one line.
 */
export const Sentence = ({ text }: { text: string }) => (
  <bdi>{SPACES.reduce((shown, [name, space]) => shown.replaceAll(name, space), visible(text))}</bdi>
)

/** Renders sentences, one a line. */
export const SentenceList = ({ sentences }: { sentences: readonly string[] }) => (
  <ul class="sentences">
    {sentences.map((sentence) => (
      <li>
        <Sentence text={sentence} />
      </li>
    ))}
  </ul>
)
