import type { Child } from 'hono/jsx'

// What the forms of the next version share: that of plans and that of fraud rules.

/** Renders the button of the Enter key, which is the first one of its form: it shows what was typed. */
export const EnterButton = () => (
  <button type="submit" name="do" value="show" class="default" tabindex={-1} formaction="#figures">
    Show again
  </button>
)

/** Renders that somebody else saved a version meanwhile, and what it changed. */
export const SavedMeanwhile = ({
  version,
  again,
  children,
}: {
  version: number
  /** The page whose form begins with that version. */
  again?: string
  children?: Child
}) => (
  <div class="notice bad" role="alert" tabindex={-1} autofocus>
    <p>
      Version {version} was saved while you were typing, so nothing was changed. What it changes is
      marked below. What you typed is still here: save it again to make it the version after, which
      then has your terms alone.
      {again && (
        <>
          {' '}
          <a href={again}>Begin again with version {version}</a> to keep what it changes.
        </>
      )}
    </p>
    {children}
  </div>
)
