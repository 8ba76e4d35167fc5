#!/bin/sh
# Renews docs/research/real.md: fetches two published networks and public sequences from Python's
# registry into a folder, 250 MB, and runs the parts of figures that need them. It is run in the
# repository's root, for one part or for all:
#
#	tools/figures/real.sh FOLDER [heavy|ranks|steps|kinds|reactions]
set -eu
folder=$1
shift
python=$folder/bin/python
if ! [ -e "$folder/reactions.txt" ]; then
	python3 -m venv "$folder"
	"$python" -m pip install --quiet rdkit==2026.9.1 pyarrow==26.0.1
	"$python" -m pip install --quiet --no-deps --target "$folder/packages" antiberty==0.1.3 rxnfp==0.1.0 abstar==0.8.0 promb==1.0.2
	"$python" -m pip download --quiet --no-deps --no-binary rxn-insight --dest "$folder" rxn-insight==0.1.3
	"$python" tools/figures/real.py data "$folder"
fi
go run ./tools/figures -packages "$folder" "$@"
