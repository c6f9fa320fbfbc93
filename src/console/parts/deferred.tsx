import { DEFERRED_PART } from '../respond.ts'

/**
 * Renders the place of the part that `computeDeferred` of a view returns: everything before this place is
 * sent first, and the part follows later in the same response. The style sheet hides the note once the part
 * has arrived.
 */
export const DeferredPart = () => (
  <div class="deferred">
    <p class="note" role="status">
      Computing from the records …
    </p>
    {DEFERRED_PART}
  </div>
)
