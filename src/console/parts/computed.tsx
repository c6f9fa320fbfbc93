import { COMPUTED } from '../respond.ts'

/**
 * Renders the place of what `compute` of a view returns. All before it is sent first. The style sheet
 * hides the note once something follows it.
 */
export const Computed = () => (
  <div class="computed">
    <p class="note" role="status">
      Computing from the records …
    </p>
    {COMPUTED}
  </div>
)
