// Opens the operation or schema that the address names. Not every browser does so.

function openNamed() {
  const folded = document.getElementById(location.hash.slice(1))?.closest('details')
  if (!folded) return
  folded.open = true
  folded.scrollIntoView()
}

addEventListener('hashchange', openNamed)
openNamed()
