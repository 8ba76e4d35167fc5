
(async () => {
	// The runs: base64, gzip, JSON, as package replay packs them.
	const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), c => c.charCodeAt(0));
	player(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json());
})();
