package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

var client = &http.Client{Timeout: 10 * time.Second}

func readSecret(name, environment string) (string, error) {
	address := os.Getenv("SIGNALBOX_SECRETS_URL") + "/api/consumer/secrets/" + url.PathEscape(name) + "?environment=" + url.QueryEscape(environment)
	for attempt := 1; ; attempt++ {
		request, err := http.NewRequest("GET", address, nil)
		if err != nil {
			return "", err
		}
		request.Header.Set("X-Api-Key", os.Getenv("SIGNALBOX_APPLICATION_KEY"))
		response, err := client.Do(request)
		if err != nil {
			if attempt == 5 {
				return "", err
			}
			time.Sleep(time.Second)
			continue
		}
		var secret struct{ Value string }
		err = json.NewDecoder(response.Body).Decode(&secret)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return secret.Value, err
		}
		if response.StatusCode != http.StatusServiceUnavailable || attempt == 5 {
			return "", fmt.Errorf("%s: %s", name, response.Status)
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		time.Sleep(time.Duration(max(seconds, 1)) * time.Second)
	}
}

func main() {
	value, err := readSecret("db-password", "production")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value)
}
