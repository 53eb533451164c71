# SPDX-License-Identifier: Apache-2.0
"""The Python package: the same answers, the same errors, and threads that run meanwhile."""
import copy
import inspect
import json
import pathlib
import pickle
import subprocess
import sys
import threading
import typing

import pytest

import sextant

STEP = dict(model="gpt3-175b", system="dgx-a100", gpus=64, tp=8, pp=8)
DATA = pathlib.Path(__file__).parents[1] / "data" / "huggingface"


def test_a_step_has_the_fields_of_the_contract():
    step = sextant.train(**STEP)
    assert step.step_seconds > 0
    assert step["mfu"] == step.mfu
    assert step.memory.fits and step.memory.total_bytes < step.memory.capacity_bytes
    assert step.breakdown.label == "step"
    assert sum(part.seconds for part in step.breakdown.parts) == pytest.approx(step.step_seconds)
    assert "dp 1" in "\n".join(step.assumptions)


def test_a_step_prints_its_breakdown():
    text = str(sextant.train(**STEP))
    assert text.startswith("gpt3-175b on 64 x a100-sxm-80gb of dgx-a100")
    assert "├─ communication" in text and "assumed:" in text
    assert repr(sextant.train(**STEP)) == text


def test_answers_are_plain_data_on_request():
    step = sextant.train(**STEP)
    assert json.loads(json.dumps(step.to_dict())) == step.to_dict()
    assert dict(step).keys() == step.to_dict().keys()
    assert copy.deepcopy(step).step_seconds == step.step_seconds
    assert pickle.loads(pickle.dumps(step.memory)).fits
    assert "step_seconds" in dir(step)


def test_an_unknown_field_says_what_there_is():
    with pytest.raises(AttributeError, match="step_seconds"):
        sextant.train(**STEP).step_second


def test_a_notebook_sees_bars_and_tables():
    page = sextant.train(**STEP)._repr_html_()
    assert page.count("<tr>") >= 8 and "background:" in page
    assert "<table>" in sextant.ops.train(model="llama3.1-8b", system="dgx-h100", gpus=8)._repr_html_()
    assert "<pre>" in sextant.list("nodes")._repr_html_()


def test_serving_and_kernels():
    serving = sextant.infer(model="llama2-13b", system="dgx-h100", tp=2, input=200, output=200)
    assert serving.latency_seconds == pytest.approx(serving.ttft_seconds + 199 * serving.tpot_seconds)
    gemm = sextant.ops.gemm(device="h200-sxm", m=8192, n=8192, k=8192)
    assert gemm.bound == "compute" and 600 < gemm.tflops < 989
    ring = sextant.ops.collective(system="dgx-h100", gpus=8, bytes="64 MiB")
    assert ring.seconds > 0


def test_presets():
    assert len(sextant.list("devices").devices) > 30
    assert "h100-sxm" in str(sextant.list("devices"))
    assert sextant.show("h100-sxm").memory.bandwidth == pytest.approx(3.35e12, rel=0.01)
    assert "bandwidth" in str(sextant.show("device", fields=True))


def test_settings_are_texts_or_a_table():
    before = sextant.ops.gemm(device="h100-sxm", m=1)
    faster = {"device.memory.bandwidth": "8 TB/s"}
    after = sextant.ops.gemm(device="h100-sxm", m=1, set=faster)
    assert after.seconds < before.seconds
    assert sextant.ops.gemm(device="h100-sxm", m=1, set="device.memory.bandwidth=8 TB/s").seconds == after.seconds


def test_a_model_may_be_a_config_or_a_path():
    path = sorted(DATA.glob("*.json"))[0]
    by_path = sextant.infer(model=path, system="dgx-h100", tp=8, input=64, output=8)
    config = json.loads(path.read_text())
    by_config = sextant.infer(model=config, system="dgx-h100", tp=8, input=64, output=8)
    assert by_config.tpot_seconds == by_path.tpot_seconds


def test_a_system_may_be_a_table():
    usual = sextant.train(**STEP)
    same = sextant.train(**{**STEP, "system": {"name": "mine", "extends": "dgx-a100"}})
    assert same.step_seconds == usual.step_seconds


def test_search_ranks_and_counts():
    found = sextant.search(model="gpt3-175b", system="dgx-a100", gpus=64, batch=64, fix=["tp=8", "zero=1"],
                           limit="pp<=8", precision="bf16", top=3)
    times = [one.prediction.step_seconds for one in found.best]
    assert len(times) == 3 and times == sorted(times)
    assert found.evaluated >= found.feasible > 0
    assert found.best[0].strategy.tp == 8


def test_frames_where_there_is_pandas():
    pandas = pytest.importorskip("pandas")
    operators = sextant.ops.train(model="llama3.1-8b", system="dgx-h100", gpus=8, tp=2).operators.frame()
    assert isinstance(operators, pandas.DataFrame)
    assert 0.3 < operators["share"].sum() < 1.1
    best = sextant.search(model="gpt3-1.3b", system="dgx-a100", gpus=8, batch=64, top=4).best.frame()
    assert len(best) == 4 and best["prediction.step_seconds"].is_monotonic_increasing


def test_wrong_input_names_every_problem():
    with pytest.raises(sextant.InputError) as caught:
        sextant.train(model="gpt3-175b", system="dgx-a100", tp="8", pp=1.5)
    fields = [d["field"] for d in caught.value.diagnostics]
    assert fields == ["tp", "pp"]
    assert "remove the quotes" in str(caught.value)
    with pytest.raises(sextant.InputError) as caught:
        sextant.train(model="nothing", system="dgx-a100", tp="8")
    assert [d["field"] for d in caught.value.diagnostics] == ["tp", "model"]
    with pytest.raises(ValueError, match="did you mean 'gpt3-175b'"):
        sextant.train(model="gpt3-175", system="dgx-a100")
    with pytest.raises(TypeError, match="microbach"):
        sextant.train(**STEP, microbach=2)


def test_files_that_are_not_there_are_errors_of_the_system(tmp_path):
    with pytest.raises(OSError):
        sextant.validate(cases=[tmp_path / "none.csv"])
    with pytest.raises(OSError):
        sextant.train(**STEP, trace=tmp_path / "no folder" / "trace.json")


def test_figures_are_written_once(tmp_path):
    figure = tmp_path / "roofline.svg"
    answer = sextant.ops.train(model="llama3.1-8b", system="dgx-h100", gpus=8, plot=figure)
    assert figure.read_text().startswith("<svg") or "<svg" in figure.read_text()
    figure.unlink()
    assert str(answer) and not figure.exists()


def test_other_threads_run_meanwhile():
    ticks = []
    done = threading.Event()
    ticker = threading.Thread(target=lambda: [ticks.append(1) for _ in iter(lambda: done.wait(0.001), True)])
    ticker.start()
    results = []
    ask = lambda: results.append(
        sextant.search(model="gpt3-175b", system="dgx-a100", gpus=64, batch=64, fix="tp=8", threads=1).evaluated)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    done.set()
    ticker.join()
    assert len(results) == 2 and results[0] == results[1]
    assert ticks


def functions():
    for module in (sextant._commands, sextant.ops):
        for name in module.__all__:
            yield getattr(module, name)


@pytest.mark.parametrize("function", functions(), ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_every_function_is_typed_and_described(function):
    hints = typing.get_type_hints(function)
    for name in inspect.signature(function).parameters:
        assert name in hints
        assert f"        {name}: " in function.__doc__
    assert hints["return"] is sextant.Answer
    assert "sextant " in function.__doc__


def test_importing_does_not_need_pandas():
    code = "import sys; sys.modules['pandas'] = None; import sextant; print(sextant.__version__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == sextant.__version__
