import type { Child } from 'hono/jsx'
import { useVisit, VisitContext } from '../base/page.ts'
import { DEFERRED_PART } from '../base/respond.ts'

/**
 * Renders a part of a page that is computed from records, which needs more time and more round trips than the rest.
 * Everything before its place is sent first, and the part follows later in the same response. The style sheet shows
 * it in place of the note once all of it has arrived: a part that grows would move what is on the screen already.
 */
export function Deferred({ part }: { part: () => Promise<Child> }, visit = useVisit()) {
  visit.deferred.push(async () => (
    <VisitContext.Provider value={visit}>{await part()}</VisitContext.Provider>
  ))
  return (
    <div class="deferred">
      <p class="note" role="status">
        Computing from the records …
      </p>
      {DEFERRED_PART}
      <span class="arrived" hidden />
    </div>
  )
}
