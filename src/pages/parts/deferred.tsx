import { DEFERRED_PART } from '../respond.ts'

/**
 * Renders the place of the part that `computeDeferred` of a view returns: everything before this place is
 * sent first, and the part follows later in the same response. The style sheet shows the part in place of the
 * note once all of it has arrived: a part that grows would move what is on the screen already.
 */
export const DeferredPart = () => (
  <div class="deferred">
    <p class="note" role="status">
      Computing from the records …
    </p>
    {DEFERRED_PART}
    <span class="arrived" hidden />
  </div>
)
