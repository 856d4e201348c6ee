// Runs before the page is painted, so that a chosen theme never flashes.
const chosen = localStorage.getItem("redisson-dq.theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
document.documentElement.classList.add("has-script");
