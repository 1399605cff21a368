package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const intake = "http://127.0.0.1:8082/api/v1"

var client = &http.Client{Timeout: 60 * time.Second}

type page struct {
	Items  []struct{ ReceivedAt, Title string }
	Newest string
}

func main() {
	token, _, _ := strings.Cut(os.Getenv("Intake__AccessTokens"), ",")
	for newest := ""; ; {
		query := url.Values{"wait": {"25"}, "limit": {"200"}}
		if newest != "" {
			query.Set("before", newest)
		}
		request, _ := http.NewRequest("GET", intake+"/events?"+query.Encode(), nil)
		request.Header.Set("Authorization", "token "+token)
		response, err := client.Do(request)
		if err != nil || response.StatusCode == http.StatusServiceUnavailable {
			if err == nil {
				response.Body.Close()
			}
			time.Sleep(5 * time.Second)
			continue
		}
		var got page
		err = json.NewDecoder(response.Body).Decode(&got)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			log.Fatal(response.Status, " ", err)
		}
		for _, event := range got.Items {
			fmt.Println(event.ReceivedAt, event.Title)
		}
		newest = got.Newest
	}
}
